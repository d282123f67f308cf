import { EverturnError } from "../../base/errors/everturn-error.ts";
import { availableMemory } from "../../base/processes/available-memory.ts";
import type { TokenSequence } from "./batch.ts";

/** Where the passes of a trainer get their memory. */
export interface MemoryRoom {
  /** Bytes that the next pass may hold. */
  room(): number;
  /** Throws TRAINING_MEMORY_SHORT if there are fewer than so many, for passes of so many tokens. */
  check(bytes: number, tokens: number): void;
  /** Takes so many, as `check` says. */
  take(bytes: number, tokens: number): void;
}

/**
 * Room up to a limit, or to what is available here (bytes). What earlier passes held counts as available, since the runtime
 * keeps it.
 */
export function createMemoryRoom(
  limit = () => Number.POSITIVE_INFINITY,
  available = availableMemory,
): MemoryRoom {
  let reserved = 0;
  const room = () => Math.min(limit(), available() + reserved);
  const check = (bytes: number, tokens: number) => {
    const there = room();
    if (bytes <= there) return;
    throw memoryShort(bytes - reserved, tokens, there - reserved);
  };
  return {
    room,
    check,
    take(bytes, tokens) {
      check(bytes, tokens);
      reserved = Math.max(reserved, bytes);
    },
  };
}

/** Throws TRAINING_MEMORY_SHORT if fewer than so many bytes are available for numbers that stand beside what passes over these sequences hold. */
export function checkAvailable(
  bytes: number,
  sequences: readonly TokenSequence[],
  available = availableMemory,
): void {
  const there = available();
  const longest = sequences.reduce((most, { tokens: { length } }) => Math.max(most, length), 0);
  if (bytes > there) throw memoryShort(bytes, longest, there);
}

function memoryShort(needed: number, tokens: number, available: number): EverturnError {
  const megabytes = (count: number) => Math.ceil(Math.max(0, count) / 1e6);
  const given = { tokens, needed: megabytes(needed), available: megabytes(available) };
  return new EverturnError("TRAINING_MEMORY_SHORT", given);
}
