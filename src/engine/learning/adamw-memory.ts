import { pageBytes, sharedMemory } from "./adamw-functions.ts";
import { chunkBytes, stride } from "./adamw-kernel.ts";

/** One parameter's arrays for AdamW, in one memory that it works on in place. */
export interface AdamWRoom {
  parameter: Float32Array;
  gradient: Float32Array;
  first: Float32Array;
  second: Float32Array;
}

/**
 * Memories, and a room in one of them for each parameter. A memory begins with one chunk per thread and ends with the
 * gradients. So gradients that are never written occupy no memory, not even parts of used pages.
 */
export interface AdamWMemory {
  memories: WebAssembly.Memory[];
  /**
   * Zeros, in the order of the parameters. Undefined for a parameter that is too large, or if the system has no room.
   */
  rooms: (AdamWRoom | undefined)[];
}

/** Most addressable bytes of a memory. */
const largestMemory = 2 ** 32 - pageBytes;
/** Bytes after which a new memory begins. So there are few memories, and none is much larger than needed. */
const fullMemory = 2 ** 30;

/** Makes rooms for parameters with these counts. They occupy memory only once they are written. */
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

/** Groups neighboring parameters whose rooms share a memory. */
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
    // The process's address space may be limited, and a memory reserves gigabytes of it regardless of its size.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function paddedBytes(count: number): number {
  return 4 * stride * Math.ceil(count / stride);
}
