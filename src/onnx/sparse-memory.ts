import type { ForeignCalls } from "./foreign-calls.ts";

/** Advice of Linux: MADV_NOHUGEPAGE, MADV_DONTNEED. */
const [noHugePages, dontNeed] = [15, 4];
/** Bytes: pages begin at multiples of this, whatever their size. */
const pageSize = 2 ** 16;

/** Makes an array, or a part of one, zeros that take no memory but where it is written to afterwards. */
export type MakeSparse = (array: NodeJS.TypedArray) => void;

/**
 * New arrays are mostly so by themselves. But some Linux systems give memory by 2 MiB at once ("always" in
 * /sys/kernel/mm/transparent_hugepage/enabled), and memory that was used before is filled with zeros: there the system
 * is told. Undefined where it can't be called.
 */
export function sparseMemory(koffi: ForeignCalls["koffi"]): MakeSparse | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const library = koffi.load(null);
    const advise = library.func("int madvise(uintptr_t, size_t, int)");
    const addressOf = library.func("uintptr_t memmove(void *, const void *, size_t)"); // moves nothing, and gives the address
    return (array) => {
      const address = Number(addressOf(array, array, 0));
      const start = Math.ceil(address / pageSize) * pageSize;
      const bytes = Math.floor((address + array.byteLength - start) / pageSize) * pageSize;
      if (bytes <= 0) return;
      advise(start, bytes, noHugePages);
      advise(start, bytes, dontNeed);
    };
  } catch {
    return undefined;
  }
}
