import { adamWModule } from "./adamw-module.ts";
import { momentBlock, momentCodes } from "./moment-codes.ts";

/** How numbers are given: as arrays, or as places where another thread finds them. */
export interface NumberKinds {
  floats: unknown;
  bytes: unknown;
}

/** Arrays. */
export interface Arrays {
  floats: Float32Array;
  bytes: Uint8Array;
}

/** A moment in 8 bits: a code for each number, and the scale of each block of 256 (arXiv 2110.02861). */
export interface QuantizedMoment<Numbers extends NumberKinds = Arrays> {
  codes: Numbers["bytes"];
  scales: Numbers["floats"];
}

/** The running means of one parameter, in 32 bits a number or in 8. */
export type Moments<Numbers extends NumberKinds = Arrays> =
  | { bits: 32; first: Numbers["floats"]; second: Numbers["floats"] }
  | { bits: 8; first: QuantizedMoment<Numbers>; second: QuantizedMoment<Numbers> };

/** A parameter of an update. */
export interface AdamWRow<Numbers extends NumberKinds = Arrays> {
  parameter: Numbers["floats"];
  moments: Moments<Numbers>;
  /** Learning rate / (1 − β1^t). */
  stepSize: number;
  /** 1 − learning rate · weight decay. */
  kept: number;
}

/** What all parameters of an update have in common. */
export interface AdamWRates {
  gradientScale: number;
  betas: readonly [number, number];
  /** 1 / √(1 − β2^t). */
  secondScale: number;
}

/** AdamW's arithmetic in float32, four numbers at a time, on parts of arrays. Each thread has its own. */
export interface AdamWKernel {
  /** Updates the numbers from `start`, at the beginning of a block, to `end` in place. */
  update(row: AdamWRow, gradient: Float32Array, rates: AdamWRates, ...part: Part): void;
  /** The sum of their squares, in double precision. */
  squares(gradient: Float32Array, ...part: Part): number;
}

type Part = readonly [start: number, end: number];

const epsilon = 1e-8;
/** Numbers of each array that the module works on at a time: they stay in the processor's cache. */
const chunk = 4096;
/** Of the memory, for a chunk of one moment in 8 bits and its tables. */
const codecBytes = 9216;

/** A WebAssembly instance with a chunk of memory. */
export function createAdamWKernel(): AdamWKernel {
  const module = new WebAssembly.Module(Buffer.from(adamWModule, "base64"));
  const { memory, ...exported } = new WebAssembly.Instance(module).exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new TypeError("adamw.wat exports no memory");
  const functionOf = (name: string) => {
    const found = exported[name];
    if (typeof found !== "function") throw new TypeError(`adamw.wat exports no ${name}`);
    return found;
  };
  const [update, squares] = [functionOf("update"), functionOf("squares")];
  const [quantize, dequantize] = [functionOf("quantize"), functionOf("dequantize")];
  const chunkAt = (index: number) => new Float32Array(memory.buffer, index * chunk * 4, chunk);
  const [parameters, gradients, firsts, seconds] = [chunkAt(0), chunkAt(1), chunkAt(2), chunkAt(3)];

  /** Moments of 8 bits on their way to floats and back, with tables of their own: firsts or seconds. */
  const codec = (index: number, floats: Float32Array, signed: boolean) => {
    const base = 4 * chunk * 4 + index * codecBytes;
    const codes = new Uint8Array(memory.buffer, base, chunk);
    const scales = new Float32Array(memory.buffer, base + chunk, chunk / momentBlock);
    const tables = momentCodes(signed);
    const values = new Float32Array(memory.buffer, scales.byteOffset + scales.byteLength, 256);
    const middles = new Float32Array(memory.buffer, values.byteOffset + values.byteLength, 256);
    const steps = new Uint8Array(memory.buffer, middles.byteOffset + middles.byteLength, tables.steps.length);
    values.set(tables.values);
    middles.set(tables.middles);
    steps.set(tables.steps);
    const blocksOf = ([start, end]: Part) => [start / momentBlock, Math.ceil(end / momentBlock)] as const;
    return {
      load(moment: QuantizedMoment, [start, end]: Part) {
        codes.set(moment.codes.subarray(start, end));
        scales.set(moment.scales.subarray(...blocksOf([start, end])));
        const places = [codes, scales, values, floats].map(({ byteOffset }) => byteOffset);
        dequantize(end - start, ...places);
      },
      store(moment: QuantizedMoment, [start, end]: Part) {
        const places = [floats, codes, scales, steps, middles].map(({ byteOffset }) => byteOffset);
        quantize(end - start, ...places, signed ? 1 : 0);
        moment.codes.set(codes.subarray(0, end - start), start);
        const [from, to] = blocksOf([start, end]);
        moment.scales.set(scales.subarray(0, to - from), from);
      },
    };
  };
  const [firstCodec, secondCodec] = [codec(0, firsts, true), codec(1, seconds, false)];

  const load = (moments: Moments, part: Part) => {
    if (moments.bits === 8) {
      firstCodec.load(moments.first, part);
      secondCodec.load(moments.second, part);
    } else {
      firsts.set(moments.first.subarray(...part));
      seconds.set(moments.second.subarray(...part));
    }
  };
  const store = (moments: Moments, [start, end]: Part) => {
    if (moments.bits === 8) {
      firstCodec.store(moments.first, [start, end]);
      secondCodec.store(moments.second, [start, end]);
    } else {
      moments.first.set(firsts.subarray(0, end - start), start);
      moments.second.set(seconds.subarray(0, end - start), start);
    }
  };

  return {
    update({ parameter, moments, stepSize, kept }, gradient, rates, ...whole) {
      const { gradientScale, secondScale } = rates;
      const [firstDecay, secondDecay] = rates.betas;
      const decays = [firstDecay, 1 - firstDecay, secondDecay, 1 - secondDecay];
      for (const [start, end] of chunksOf(...whole)) {
        parameters.set(parameter.subarray(start, end));
        gradients.set(gradient.subarray(start, end));
        load(moments, [start, end]);
        update(fours(end - start), gradientScale, ...decays, kept, stepSize, secondScale, epsilon);
        parameter.set(parameters.subarray(0, end - start), start);
        store(moments, [start, end]);
      }
    },
    squares(gradient, ...whole) {
      let total = 0;
      for (const [start, end] of chunksOf(...whole)) {
        const count = end - start;
        gradients.set(gradient.subarray(start, end));
        gradients.fill(0, count, fours(count));
        total += Number(squares(fours(count)));
      }
      return total;
    },
  };
}

function* chunksOf(from: number, to: number): Generator<Part> {
  for (let start = from; start < to; start += chunk) yield [start, Math.min(start + chunk, to)];
}

/** The next multiple of four, what is worked on at a time. */
function fours(count: number): number {
  return Math.ceil(count / 4) * 4;
}
