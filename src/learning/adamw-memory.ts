import { pageBytes, sharedMemory } from "./adamw-functions.ts";
import { stride } from "./adamw-kernel.ts";

/** What AdamW works on of one parameter, in one memory, where it lies. */
export interface AdamWRoom {
  parameter: Float32Array;
  gradient: Float32Array;
  first: Float32Array;
  second: Float32Array;
}

/** Memories, and a room for each parameter in one of them. */
export interface AdamWMemory {
  memories: WebAssembly.Memory[];
  /** Zeros, in the order of the parameters; undefined for one too large, or where the system has no room. */
  rooms: (AdamWRoom | undefined)[];
}

/** Bytes that can be addressed in a memory. */
const largestMemory = 2 ** 32 - pageBytes;
/** Bytes after which another is begun: few memories, none much larger than need be. */
const fullMemory = 2 ** 30;

/** Makes rooms for parameters of so many numbers. They take memory where they are written to. */
export function createAdamWMemory(counts: readonly number[]): AdamWMemory {
  const result: AdamWMemory = { memories: [], rooms: [] };
  for (const group of groupsOf(counts)) {
    const memory = memoryFor(group);
    if (memory) result.memories.push(memory);
    let at = 0;
    for (const count of group) {
      const next = () => {
        const start = at;
        at += paddedBytes(count);
        return new Float32Array(memory!.buffer, start, count);
      };
      result.rooms.push(memory && { parameter: next(), gradient: next(), first: next(), second: next() });
    }
  }
  return result;
}

/** Neighbours whose rooms lie in one memory. */
function groupsOf(counts: readonly number[]): number[][] {
  const groups: number[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const count of counts) {
    const wanted = 4 * paddedBytes(count);
    if (bytes + wanted > fullMemory) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)!.push(count);
    bytes += wanted;
  }
  return groups;
}

function memoryFor(counts: readonly number[]): WebAssembly.Memory | undefined {
  const bytes = counts.reduce((sum, count) => sum + 4 * paddedBytes(count), 0);
  if (bytes === 0 || bytes > largestMemory) return undefined;
  try {
    return sharedMemory(bytes);
  } catch (error) {
    // Addresses can be limited, of which a memory takes gigabytes whatever it holds.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function paddedBytes(count: number): number {
  return 4 * stride * Math.ceil(count / stride);
}
