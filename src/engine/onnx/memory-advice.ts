import type { ForeignFunctions } from "./foreign-calls.ts";

/** Linux's advice values: MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTNEED. */
const [hugePages, noHugePages, dontNeed] = [14, 15, 4];
/** Bytes. Pages of all sizes begin at multiples of this. */
const pageSize = 2 ** 16;

/** Advice to the system about an array's memory. */
export interface MemoryAdvice {
  /**
   * Fills an array, or a part of one, with zeros that occupy no memory until they are written. New arrays are usually
   * like that. But some Linux systems provide memory in units of 2 MiB ("always" in
   * /sys/kernel/mm/transparent_hugepage/enabled), and reused memory is filled with zeros.
   */
  makeSparse(array: NodeJS.TypedArray): void;
  /**
   * Provides the memory of an array that is written as a whole in units of 2 MiB, which makes reads and writes faster.
   */
  useHugePages(array: NodeJS.TypedArray): void;
  /**
   * Releases what small blocks left in the C library's heap. Creating a session of a large graph leaves about 100 MB.
   * Takes a millisecond.
   */
  giveBackHeap(): void;
}

/** Returns undefined if the system takes no advice. */
export function memoryAdvice(koffi: ForeignFunctions["koffi"]): MemoryAdvice | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const madvise = koffi.load(null).func("int madvise(uintptr_t, size_t, int)");
    const advise = (array: NodeJS.TypedArray, ...advices: readonly number[]) => {
      const address = Number(koffi.address(array));
      const start = Math.ceil(address / pageSize) * pageSize;
      const bytes = Math.floor((address + array.byteLength - start) / pageSize) * pageSize;
      if (bytes > 0) for (const advice of advices) madvise(start, bytes, advice);
    };
    return {
      makeSparse: (array) => advise(array, noHugePages, dontNeed),
      useHugePages: (array) => advise(array, hugePages),
      giveBackHeap: heapTrimmer(koffi),
    };
  } catch {
    return undefined;
  }
}

function heapTrimmer(koffi: ForeignFunctions["koffi"]): () => void {
  try {
    const trim = koffi.load(null).func("int malloc_trim(size_t)");
    return () => trim(0);
  } catch {
    return () => undefined; // musl lacks it, and keeps little
  }
}
