import { EverturnError } from "../errors/everturn-error.ts";
import { availableMemory } from "../processes/available-memory.ts";

/** Where the runs of a trainer get their memory. */
export interface MemoryRoom {
  /** Bytes that the next run may hold. */
  room(): number;
  /** Throws TRAINING_MEMORY_SHORT if there are fewer than so many, for runs of so many tokens. */
  check(bytes: number, tokens: number): void;
  /** Takes so many, as `check` says. */
  take(bytes: number, tokens: number): void;
}

/**
 * Room up to a limit, or to what is available here (bytes). What earlier runs held counts as available, since the runtime
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
    const megabytes = (count: number) => Math.ceil(Math.max(0, count) / 1e6);
    throw new EverturnError("TRAINING_MEMORY_SHORT", {
      tokens,
      needed: megabytes(bytes - reserved),
      available: megabytes(there - reserved),
    });
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
