import type { Tensor } from "../models/safetensors.ts";
import { adamWModule } from "./adamw-module.ts";
import { type LearningRates, rateOf } from "./learning-rates.ts";

/** Running means of each parameter's gradient and of its square, by the parameter's name. */
export interface Moments {
  first: ReadonlyMap<string, Float32Array>;
  second: ReadonlyMap<string, Float32Array>;
}

/** What one update needs to know. */
export interface AdamWSettings extends LearningRates {
  /** Decoupled; matrices only. Norms and biases don't decay. */
  weightDecay: number;
  /** How slowly the running means of gradients and of their squares change, as in Adam: default [0.9, 0.999]. */
  betas?: readonly [number, number];
  /** The number of this update, from 1. */
  update: number;
  /** What gradients are multiplied with first. */
  gradientScale: number;
}

/** AdamW's arithmetic in float32, four numbers at a time. */
export interface AdamW {
  /**
   * Updates parameters and moments in place (AdamW, arXiv 1711.05101; epsilon 1e-8). Parameters without a gradient
   * stay as they are.
   */
  update(
    parameters: ReadonlyMap<string, Tensor>,
    gradients: ReadonlyMap<string, Float32Array>,
    moments: Moments,
    settings: AdamWSettings,
  ): void;
  /** The Euclidean norm of all gradients together. */
  norm(gradients: Iterable<Float32Array>): number;
}

const epsilon = 1e-8;
/** Numbers of each array that the module works on at a time: they stay in the processor's cache. */
const chunk = 4096;

/** An optimizer of its own: a WebAssembly instance with a chunk of memory. */
export function createAdamW(): AdamW {
  const module = new WebAssembly.Module(Buffer.from(adamWModule, "base64"));
  const { memory, update, squares } = new WebAssembly.Instance(module).exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new TypeError("adamw.wat exports no memory");
  if (typeof update !== "function" || typeof squares !== "function") {
    throw new TypeError("adamw.wat lacks a function");
  }
  const place = (index: number) => new Float32Array(memory.buffer, index * chunk * 4, chunk);
  const [parameterChunk, gradientChunk, firstChunk, secondChunk] = [place(0), place(1), place(2), place(3)];

  return {
    update(parameters, gradients, moments, settings) {
      const { weightDecay, betas = [0.9, 0.999], gradientScale } = settings;
      const [firstDecay, secondDecay] = betas;
      const firstScale = 1 / (1 - firstDecay ** settings.update);
      const secondScale = 1 / Math.sqrt(1 - secondDecay ** settings.update);
      for (const [name, gradient] of gradients) {
        const { data, shape } = parameters.get(name)!;
        const first = moments.first.get(name)!;
        const second = moments.second.get(name)!;
        const learningRate = rateOf(name, settings);
        const stepSize = learningRate * firstScale;
        const kept = shape.length > 1 ? 1 - learningRate * weightDecay : 1;
        for (const [start, end] of chunksOf(gradient)) {
          parameterChunk.set(data.subarray(start, end));
          gradientChunk.set(gradient.subarray(start, end));
          firstChunk.set(first.subarray(start, end));
          secondChunk.set(second.subarray(start, end));
          const decays = [firstDecay, 1 - firstDecay, secondDecay, 1 - secondDecay];
          const count = fours(end - start);
          update(count, gradientScale, ...decays, kept, stepSize, secondScale, epsilon);
          data.set(parameterChunk.subarray(0, end - start), start);
          first.set(firstChunk.subarray(0, end - start), start);
          second.set(secondChunk.subarray(0, end - start), start);
        }
      }
    },
    norm(gradients) {
      let total = 0;
      for (const gradient of gradients) {
        for (const [start, end] of chunksOf(gradient)) {
          gradientChunk.set(gradient.subarray(start, end));
          gradientChunk.fill(0, end - start, fours(end - start));
          total += Number(squares(fours(end - start)));
        }
      }
      return Math.sqrt(total);
    },
  };
}

function* chunksOf(numbers: Float32Array): Generator<[start: number, end: number]> {
  for (let start = 0; start < numbers.length; start += chunk) {
    yield [start, Math.min(start + chunk, numbers.length)];
  }
}

/** The next multiple of four, what is worked on at a time. */
function fours(count: number): number {
  return Math.ceil(count / 4) * 4;
}
