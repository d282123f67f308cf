import { adamWModule } from "./adamw-module.ts";

/** A parameter of an update, with its moments: arrays, or where another thread finds them. */
export interface AdamWRow<Numbers> {
  parameter: Numbers;
  first: Numbers;
  second: Numbers;
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
  /** Updates the numbers from `start` to `end` in place. */
  update(row: AdamWRow<Float32Array>, gradient: Float32Array, rates: AdamWRates, ...part: Part): void;
  /** The sum of their squares, in double precision. */
  squares(gradient: Float32Array, ...part: Part): number;
}

type Part = readonly [start: number, end: number];

const epsilon = 1e-8;
/** Numbers of each array that the module works on at a time: they stay in the processor's cache. */
const chunk = 4096;

/** A WebAssembly instance with a chunk of memory. */
export function createAdamWKernel(): AdamWKernel {
  const module = new WebAssembly.Module(Buffer.from(adamWModule, "base64"));
  const { memory, update, squares } = new WebAssembly.Instance(module).exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new TypeError("adamw.wat exports no memory");
  if (typeof update !== "function" || typeof squares !== "function") {
    throw new TypeError("adamw.wat lacks a function");
  }
  const place = (index: number) => new Float32Array(memory.buffer, index * chunk * 4, chunk);
  const [parameters, gradients, firsts, seconds] = [place(0), place(1), place(2), place(3)];

  return {
    update({ parameter, first, second, stepSize, kept }, gradient, rates, ...part) {
      const { gradientScale, secondScale } = rates;
      const [firstDecay, secondDecay] = rates.betas;
      const decays = [firstDecay, 1 - firstDecay, secondDecay, 1 - secondDecay];
      for (const [start, end] of chunksOf(...part)) {
        parameters.set(parameter.subarray(start, end));
        gradients.set(gradient.subarray(start, end));
        firsts.set(first.subarray(start, end));
        seconds.set(second.subarray(start, end));
        update(fours(end - start), gradientScale, ...decays, kept, stepSize, secondScale, epsilon);
        parameter.set(parameters.subarray(0, end - start), start);
        first.set(firsts.subarray(0, end - start), start);
        second.set(seconds.subarray(0, end - start), start);
      }
    },
    squares(gradient, ...part) {
      let total = 0;
      for (const [start, end] of chunksOf(...part)) {
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
