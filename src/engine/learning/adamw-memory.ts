import { pageBytes, sharedMemory } from "./adamw-functions.ts";
import { chunkBytes, stride } from "./adamw-kernel.ts";

/** What AdamW works on of one parameter, in one memory, where it lies. */
export interface AdamWRoom {
  parameter: Float32Array;
  gradient: Float32Array;
  first: Float32Array;
  second: Float32Array;
}

/**
 * Memories, and a room for each parameter in one of them. Each begins with a chunk for each thread, and ends with the gradients: where
 * nobody writes to them they take no memory, nor parts of pages that others have.
 */
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
export function createAdamWMemory(counts: readonly number[], threads: number): AdamWMemory {
  const result: AdamWMemory = { memories: [], rooms: [] };
  for (const group of groupsOf(counts)) {
    const memory = memoryFor(group, threads);
    if (memory) result.memories.push(memory);
    result.rooms.push(...(memory ? roomsIn(memory, group, threads) : group.map(() => undefined)));
  }
  return result;
}

function roomsIn({ buffer }: WebAssembly.Memory, counts: readonly number[], threads: number): AdamWRoom[] {
  let at = threads * chunkBytes;
  const next = (count: number) => {
    const array = new Float32Array(buffer, at, count);
    at += paddedBytes(count);
    return array;
  };
  const states = counts.map((count) => ({ parameter: next(count), first: next(count), second: next(count) }));
  const gradients = counts.map(next);
  return states.map((state, index) => ({ ...state, gradient: gradients[index]! }));
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

function memoryFor(counts: readonly number[], threads: number): WebAssembly.Memory | undefined {
  const bytes = counts.reduce((sum, count) => sum + 4 * paddedBytes(count), threads * chunkBytes);
  if (bytes > largestMemory) return undefined;
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
