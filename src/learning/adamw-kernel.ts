import { type AdamWFunctions, openAdamWModule, sharedMemory } from "./adamw-functions.ts";
import type { AdamWRates, AdamWRow, Moments } from "./adamw-rows.ts";
import { codecBytes, createMomentCodec } from "./moment-codec.ts";

/** AdamW's arithmetic in float32, four numbers at a time, on parts of arrays. Each thread has its own. */
export interface AdamWKernel {
  /** From now on, arrays that lie in this memory together are worked on where they are; others by way of copies. */
  attach(memory: WebAssembly.Memory): void;
  /** Updates the numbers from `start`, at the beginning of a block, to `end` in place. */
  update(row: AdamWRow, gradient: Float32Array, rates: AdamWRates, ...part: Part): void;
  /** Adds gradients to a sum. */
  add(sum: Float32Array, gradient: Float32Array, ...part: Part): void;
  /** The sum of their squares, in double precision. */
  squares(gradient: Float32Array, ...part: Part): number;
}

type Part = readonly [start: number, end: number];

const epsilon = 1e-8;
/** Numbers of each array that the module works on at a time: copies of them stay in the processor's cache. */
const chunk = 4096;
const chunkBytes = 4 * chunk;

/**
 * Numbers that the module works on at a time, at least. In a memory that is attached, what lies between the end of an array and the
 * next multiple of them is zero, and nobody else's.
 */
export const stride = 8;

/** A kernel with memory of its own for copies of chunks. */
export function createAdamWKernel(): AdamWKernel {
  const functionsOver = openAdamWModule();
  const memory = sharedMemory(4 * chunkBytes + 2 * codecBytes(chunk));
  const own = functionsOver(memory);
  const attached = new WeakMap<ArrayBufferLike, AdamWFunctions>();
  const chunkAt = (index: number) => new Float32Array(memory.buffer, index * chunkBytes, chunk);
  const [parameters, gradients, firsts, seconds] = [chunkAt(0), chunkAt(1), chunkAt(2), chunkAt(3)];
  const codecAt = (index: number, floats: Float32Array) =>
    createMomentCodec(own, floats, 4 * chunkBytes + index * codecBytes(chunk), index === 0);
  const [firstCodec, secondCodec] = [codecAt(0, firsts), codecAt(1, seconds)];

  /** The functions of the memory where all of these lie; undefined if they don't. */
  const functionsFor = (...arrays: readonly Float32Array[]): AdamWFunctions | undefined => {
    const [first] = arrays;
    return arrays.every(({ buffer }) => buffer === first?.buffer) ? attached.get(first!.buffer) : undefined;
  };
  const load = (moments: Moments, part: Part) => {
    if (moments.bits === 8) {
      firstCodec.load(moments.first, ...part);
      secondCodec.load(moments.second, ...part);
    } else {
      firsts.set(moments.first.subarray(...part));
      seconds.set(moments.second.subarray(...part));
    }
  };
  const store = (moments: Moments, [start, end]: Part) => {
    if (moments.bits === 8) {
      firstCodec.store(moments.first, start, end);
      secondCodec.store(moments.second, start, end);
    } else {
      moments.first.set(firsts.subarray(0, end - start), start);
      moments.second.set(seconds.subarray(0, end - start), start);
    }
  };

  return {
    attach(given) {
      attached.set(given.buffer, functionsOver(given));
    },
    update({ parameter, moments, stepSize, kept }, gradient, rates, ...whole) {
      const { gradientScale, secondScale } = rates;
      const [firstDecay, secondDecay] = rates.betas;
      const decays = [firstDecay, 1 - firstDecay, secondDecay, 1 - secondDecay];
      const numbers = [gradientScale, ...decays, kept, stepSize, secondScale, epsilon];
      if (moments.bits === 32) {
        const arrays = [parameter, gradient, moments.first, moments.second];
        const inPlace = functionsFor(...arrays);
        if (inPlace) {
          const [start, end] = whole;
          inPlace.update(...arrays.map((array) => addressIn(array, start)), strides(end - start), ...numbers);
          return;
        }
      }
      const places = [parameters, gradients, firsts, seconds].map(({ byteOffset }) => byteOffset);
      for (const [start, end] of chunksOf(...whole)) {
        parameters.set(parameter.subarray(start, end));
        gradients.set(gradient.subarray(start, end));
        load(moments, [start, end]);
        own.update(...places, strides(end - start), ...numbers);
        parameter.set(parameters.subarray(0, end - start), start);
        store(moments, [start, end]);
      }
    },
    add(sum, gradient, ...whole) {
      for (const [start, end] of chunksOf(...whole)) {
        parameters.set(sum.subarray(start, end));
        gradients.set(gradient.subarray(start, end));
        own.add(parameters.byteOffset, gradients.byteOffset, strides(end - start));
        sum.set(parameters.subarray(0, end - start), start);
      }
    },
    squares(gradient, ...whole) {
      const inPlace = functionsFor(gradient);
      let total = 0;
      for (const [start, end] of chunksOf(...whole)) {
        const count = end - start;
        if (inPlace) total += Number(inPlace.squares(addressIn(gradient, start), strides(count)));
        else {
          gradients.set(gradient.subarray(start, end));
          gradients.fill(0, count, strides(count));
          total += Number(own.squares(gradients.byteOffset, strides(count)));
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

/** The next multiple of what is worked on at a time. */
function strides(count: number): number {
  return Math.ceil(count / stride) * stride;
}
