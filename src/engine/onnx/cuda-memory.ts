import { cudaLibraries, libraryPath } from "../devices/cuda-packages.ts";
import { type CardMemory, type CopiedBytes, cardArray } from "./card-memory.ts";
import { elementBytes } from "./element-bytes.ts";
import { foreignCalls } from "./foreign-calls.ts";
import { passError } from "./pass-error.ts";
import { requireDevice } from "./require-device.ts";

/** Memory of the first NVIDIA card, through CUDA's own library. */
export interface CudaMemory extends CardMemory {
  /** Copies one pair like `copyAll`. */
  copy(from: CopiedBytes, to: CopiedBytes, count: number, bytes: number): void;
  /** Waits for pending copies. The runtime does not. */
  settle(): void;
  /** Returns the free bytes. */
  available(): number;
}

/** cudaMemcpyDefault: addresses identify their memory. */
const eitherWay = 4;

let opened: Promise<CudaMemory> | undefined;

/** Opens the card's memory. Throws DEVICE_UNAVAILABLE if a library of CUDA's is missing. */
export async function cudaMemory(): Promise<CudaMemory> {
  requireDevice("cuda");
  opened ??= open();
  return opened;
}

async function open(): Promise<CudaMemory> {
  const { koffi } = await foreignCalls();
  const runtime = cudaLibraries.find(({ file }) => file.startsWith("libcudart"))!;
  const library = koffi.load(libraryPath(runtime));
  const wordsOf = library.func("const char *cudaGetErrorString(int)");
  const call = (prototype: string) => {
    const native = library.func(prototype);
    return (...args: readonly unknown[]) => {
      const code: number = native(...args);
      if (code !== 0) throw passError(`CUDA failure ${code}: ${wordsOf(code)}`);
    };
  };
  const malloc = call("int cudaMalloc(_Out_ void **, size_t)");
  const release = call("int cudaFree(void *)");
  const fill = call("int cudaMemset(void *, int, size_t)");
  const copy = call("int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int)");
  const ask = call("int cudaMemGetInfo(_Out_ size_t *, _Out_ size_t *)");
  const wait = call("int cudaStreamSynchronize(void *)");

  /** Returns CUDA's address of a place in either memory. */
  const placeOf = ({ array, start }: CopiedBytes) =>
    "type" in array
      ? array.buffer.address + BigInt(array.byteOffset + start)
      : new Uint8Array(array.buffer, array.byteOffset + start, array.byteLength - start);

  const copyPieces: CudaMemory["copy"] = (from, to, count, bytes) => {
    if (count === 0 || bytes === 0) return;
    copy(placeOf(to), to.stride, placeOf(from), from.stride, bytes, count, eitherWay);
  };

  return {
    allocate(type, length) {
      const out: [bigint | null] = [null];
      const bytes = elementBytes[type] * length;
      if (bytes > 0) malloc(out, bytes);
      const address = out[0] ?? 0n;
      if (bytes > 0) fill(address, 0, bytes);
      return cardArray(type, { card: "cuda", address }, 0, length);
    },
    clear: ({ buffer, byteOffset, byteLength }) => fill(buffer.address + BigInt(byteOffset), 0, byteLength),
    free: ({ buffer }) => release(buffer.address),
    copy: copyPieces,
    copyAll(pairs, count, bytes) {
      for (const [from, to] of pairs) copyPieces(from, to, count, bytes);
    },
    settle: () => wait(null),
    available() {
      const [free, total] = [[0], [0]];
      ask(free, total);
      return Number(free[0]);
    },
  };
}
