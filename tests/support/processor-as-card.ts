import koffi from "koffi";
import { expect } from "vitest";
import { type CopiedBytes, cardArray } from "../../src/engine/onnx/card-memory.ts";
import type { CudaMemory } from "../../src/engine/onnx/cuda-memory.ts";
import {
  type RuntimeFunction,
  type RuntimeFunctions,
  runtimeFunctions,
} from "../../src/engine/onnx/runtime-functions.ts";

/** ONNX Runtime and a memory in which the processor stands for an NVIDIA card: what is said of the two apart from it is checked. */
export interface ProcessorAsCard {
  readonly runtime: RuntimeFunctions;
  readonly memory: CudaMemory;
  /** How many arrays were not freed yet. */
  held(): number;
}

/** Sessions get no CUDA provider; what is asked for of a card's memory is the processor's, outside of JavaScript's. */
export async function processorAsCard(): Promise<ProcessorAsCard> {
  const real = await runtimeFunctions();
  if (!real) throw expect.unreachable("ONNX Runtime's C API can't be called");
  const nothing: RuntimeFunction = Object.assign(() => {}, { aside: async () => {} });
  const library = koffi.load(null);
  const calloc = library.func("void *calloc(size_t, size_t)");
  const free = library.func("void free(void *)");
  const move = library.func("void *memmove(void *, const void *, size_t)");
  const held = new Set<bigint>();
  const placeOf = ({ array, start, stride }: CopiedBytes, piece: number) =>
    "type" in array
      ? array.buffer.address + BigInt(array.byteOffset + start + piece * stride)
      : new Uint8Array(array.buffer, array.byteOffset + start + piece * stride);
  const copy: CudaMemory["copy"] = (from, to, count, bytes) => {
    for (let piece = 0; piece < count; piece++) move(placeOf(to, piece), placeOf(from, piece), bytes);
  };
  return {
    runtime: {
      ...real,
      CreateCUDAProviderOptions: nothing,
      UpdateCUDAProviderOptions: nothing,
      SessionOptionsAppendExecutionProvider_CUDA_V2: nothing,
      ReleaseCUDAProviderOptions: nothing,
      cardMemory: { ...real.cardMemory, cuda: real.memory },
    },
    memory: {
      allocate(type, length) {
        const address: bigint = calloc(length, 8);
        held.add(address);
        return cardArray(type, { card: "cuda", address }, 0, length);
      },
      clear: ({ buffer: { address }, byteOffset, byteLength }) =>
        move(address + BigInt(byteOffset), new Uint8Array(byteLength), byteLength),
      free({ buffer: { address } }) {
        expect(held.delete(address)).toBe(true);
        free(address);
      },
      copy,
      copyAll(pairs, count, bytes) {
        for (const [from, to] of pairs) copy(from, to, count, bytes);
      },
      settle() {},
      available: () => process.availableMemory(),
    },
    held: () => held.size,
  };
}
