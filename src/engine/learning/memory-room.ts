import { EverturnError } from "../../base/errors/everturn-error.ts";
import { availableMemory } from "../../base/processes/available-memory.ts";
import type { TokenSequence } from "./batch.ts";

/** The available memory for the passes of a trainer. */
export interface MemoryRoom {
  /** Returns the most bytes that the next pass may use. */
  room(): number;
  /** Throws TRAINING_MEMORY_SHORT if fewer than `bytes` are available for passes of this many `tokens`. */
  check(bytes: number, tokens: number): void;
  /** Takes this many bytes after the same check. */
  take(bytes: number, tokens: number): void;
}

/**
 * Creates room up to a limit, or up to the available memory (bytes). Memory of earlier passes counts as available,
 * because the runtime keeps it.
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

/**
 * Throws TRAINING_MEMORY_SHORT if fewer than `bytes` are available for numbers that are held in addition to the memory
 * of passes over these sequences.
 */
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
