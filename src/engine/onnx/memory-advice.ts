import type { ForeignFunctions } from "./foreign-calls.ts";

/** Advice of Linux: MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTNEED. */
const [hugePages, noHugePages, dontNeed] = [14, 15, 4];
/** Bytes: pages begin at multiples of this, whatever their size. */
const pageSize = 2 ** 16;

/** What the system can be told of an array's memory. */
export interface MemoryAdvice {
  /**
   * Makes an array, or a part of one, zeros that take no memory but where it is written to afterwards. New arrays are mostly so by
   * themselves. But some Linux systems give memory by 2 MiB at once ("always" in /sys/kernel/mm/transparent_hugepage/enabled), and memory
   * that was used before is filled with zeros.
   */
  makeSparse(array: NodeJS.TypedArray): void;
  /** Has an array that is written to as a whole take memory by 2 MiB at once: reading and writing it take less time. */
  useHugePages(array: NodeJS.TypedArray): void;
  /** Gives back what small blocks left in the C library's heap: making a session of a large graph leaves some 100 MB. Takes a millisecond. */
  giveBackHeap(): void;
}

/** Undefined where the system can't be told. */
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
    return () => undefined; // musl has none, and keeps little
  }
}
