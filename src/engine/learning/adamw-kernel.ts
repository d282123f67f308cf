import { type AdamWFunctions, openAdamWModule, sharedMemory } from "./adamw-functions.ts";
import type { AdamWRates, AdamWRow, Moments } from "./adamw-rows.ts";
import { type CopyNumbers, copyBySet } from "./copy-numbers.ts";
import { codecBytes, createMomentCodec } from "./moment-codec.ts";

/** AdamW's arithmetic in float32, four numbers at a time, on parts of arrays. Each thread has its own kernel. */
export interface AdamWKernel {
  /**
   * From now on, works in place on arrays that are together in this memory. Gradients elsewhere pass through the chunk
   * at the address `scratch`, which belongs to this kernel. All other arrays are copied in and out.
   */
  attach(memory: WebAssembly.Memory, scratch: number): void;
  /** Updates the numbers from `start`, which begins a block, up to `end` in place. */
  update(row: AdamWRow, gradient: Float32Array, rates: AdamWRates, ...part: Part): void;
  /** Adds gradients to a sum. */
  add(sum: Float32Array, gradient: Float32Array, ...part: Part): void;
  /** Returns the sum of their squares in double precision. */
  squares(gradient: Float32Array, ...part: Part): number;
}

/** The functions of a memory, and a chunk in it. */
interface Attached {
  functions: AdamWFunctions;
  scratch: Float32Array;
}

type Part = readonly [start: number, end: number];

const epsilon = 1e-8;
/** The number of values per array in one call of the module. Copies stay in the CPU's cache, and calls are few. */
const chunk = 16_384;
/** The same in bytes. */
export const chunkBytes = 4 * chunk;

/**
 * The least number of values that the module works on at a time. In an attached memory, the values between an array's
 * end and the next multiple are zero and unused.
 */
export const stride = 8;

/** Creates a kernel with its own memory for copies of chunks. */
export function createAdamWKernel(copy: CopyNumbers = copyBySet): AdamWKernel {
  const functionsOver = openAdamWModule();
  const memory = sharedMemory(4 * chunkBytes + 2 * codecBytes(chunk));
  const own = functionsOver(memory);
  const attached = new WeakMap<ArrayBufferLike, Attached>();
  const chunkAt = (index: number) => new Float32Array(memory.buffer, index * chunkBytes, chunk);
  const [parameters, gradients, firsts, seconds] = [chunkAt(0), chunkAt(1), chunkAt(2), chunkAt(3)];
  const codecAt = (index: number, floats: Float32Array) =>
    createMomentCodec(own, copy, floats, 4 * chunkBytes + index * codecBytes(chunk), index === 0);
  const [firstCodec, secondCodec] = [codecAt(0, firsts), codecAt(1, seconds)];

  /** Returns the attached memory that contains all of these arrays; undefined if they are not in one. */
  const attachedOf = ({ buffer }: Float32Array, ...others: readonly Float32Array[]): Attached | undefined =>
    others.every((other) => other.buffer === buffer) ? attached.get(buffer) : undefined;
  /** Copies a part to the beginning of a chunk, followed by zeros up to the next multiple of `stride`. */
  const copyPart = (from: Float32Array, to: Float32Array, start: number, end: number) => {
    copy(from, start, to, 0, end - start);
    to.fill(0, end - start, strides(end - start));
  };
  /**
   * Yields the parts of a gradient with their addresses in an attached memory. Parts that must be copied have at most
   * the size of a chunk.
   */
  function* placed(gradient: Float32Array, { scratch }: Attached, ...whole: Part) {
    if (gradient.buffer === scratch.buffer) {
      const [start, end] = whole;
      yield [start, end, addressIn(gradient, start)] as const;
      return;
    }
    for (const [start, end] of chunksOf(...whole)) {
      copyPart(gradient, scratch, start, end);
      yield [start, end, scratch.byteOffset] as const;
    }
  }
  const load = (moments: Moments, part: Part) => {
    if (moments.bits === 8) {
      firstCodec.load(moments.first, ...part);
      secondCodec.load(moments.second, ...part);
    } else {
      const [start, end] = part;
      copy(moments.first, start, firsts, 0, end - start);
      copy(moments.second, start, seconds, 0, end - start);
    }
  };
  const store = (moments: Moments, [start, end]: Part) => {
    if (moments.bits === 8) {
      firstCodec.store(moments.first, start, end);
      secondCodec.store(moments.second, start, end);
    } else {
      copy(firsts, 0, moments.first, start, end - start);
      copy(seconds, 0, moments.second, start, end - start);
    }
  };

  return {
    attach(given, scratch) {
      const { buffer } = given;
      attached.set(buffer, {
        functions: functionsOver(given),
        scratch: new Float32Array(buffer, scratch, chunk),
      });
    },
    update({ parameter, moments, stepSize, kept }, gradient, rates, ...whole) {
      const { gradientScale, secondScale } = rates;
      const [firstDecay, secondDecay] = rates.betas;
      const decays = [firstDecay, 1 - firstDecay, secondDecay, 1 - secondDecay];
      const numbers = [gradientScale, ...decays, kept, stepSize, secondScale, epsilon];
      if (moments.bits === 32) {
        const { first, second } = moments;
        const there = attachedOf(parameter, first, second);
        if (there) {
          for (const [start, end, at] of placed(gradient, there, ...whole)) {
            const addresses = [
              addressIn(parameter, start),
              at,
              addressIn(first, start),
              addressIn(second, start),
            ];
            there.functions.update(...addresses, strides(end - start), ...numbers);
          }
          return;
        }
      }
      const places = [parameters, gradients, firsts, seconds].map(({ byteOffset }) => byteOffset);
      for (const [start, end] of chunksOf(...whole)) {
        copy(parameter, start, parameters, 0, end - start);
        copy(gradient, start, gradients, 0, end - start);
        load(moments, [start, end]);
        own.update(...places, strides(end - start), ...numbers);
        copy(parameters, 0, parameter, start, end - start);
        store(moments, [start, end]);
      }
    },
    add(sum, gradient, ...whole) {
      const there = attachedOf(sum);
      if (there) {
        for (const [start, end, at] of placed(gradient, there, ...whole))
          there.functions.add(addressIn(sum, start), at, strides(end - start));
        return;
      }
      for (const [start, end] of chunksOf(...whole)) {
        copy(sum, start, parameters, 0, end - start);
        copy(gradient, start, gradients, 0, end - start);
        own.add(parameters.byteOffset, gradients.byteOffset, strides(end - start));
        copy(parameters, 0, sum, start, end - start);
      }
    },
    squares(gradient, ...whole) {
      const there = attachedOf(gradient);
      let total = 0;
      for (const [start, end] of chunksOf(...whole)) {
        const count = strides(end - start);
        if (there) total += Number(there.functions.squares(addressIn(gradient, start), count));
        else {
          copyPart(gradient, gradients, start, end);
          total += Number(own.squares(gradients.byteOffset, count));
        }
      }
      return total;
    },
  };
}

function addressIn(array: Float32Array, at: number): number {
  return array.byteOffset + 4 * at;
}

function* chunksOf(from: number, to: number): Generator<Part> {
  for (let start = from; start < to; start += chunk) yield [start, Math.min(start + chunk, to)];
}

/** Rounds up to a multiple of `stride`. */
function strides(count: number): number {
  return Math.ceil(count / stride) * stride;
}
