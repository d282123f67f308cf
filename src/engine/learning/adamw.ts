import type { Tensor } from "../models/weights/safetensors.ts";
import type { MemoryAdvice } from "../onnx/memory-advice.ts";
import type { AdamWJob } from "./adamw-job.ts";
import { type AdamWRoom, createAdamWMemory } from "./adamw-memory.ts";
import type { AdamWRow, Moments } from "./adamw-rows.ts";
import { openAdamWThreads } from "./adamw-threads.ts";
import { type LearningRates, rateOf } from "./learning-rates.ts";

/** The settings of one update. */
export interface AdamWSettings extends LearningRates {
  /** Decoupled weight decay, for matrices only. Norms and biases don't decay. */
  weightDecay: number;
  /** The decay rates of the running means of gradients and of their squares, as in Adam. Default: [0.9, 0.999]. */
  betas?: readonly [number, number];
  /** The number of this update, from 1. */
  update: number;
  /** Factor that gradients are multiplied with first. */
  gradientScale: number;
}

/** AdamW's arithmetic in float32 on several threads. The result is bit for bit the same for any number of threads. */
export interface AdamW {
  /**
   * Updates parameters and moments in place (AdamW, arXiv 1711.05101; epsilon 1e-8). Parameters without a gradient stay
   * unchanged.
   */
  update(
    parameters: ReadonlyMap<string, Tensor>,
    gradients: ReadonlyMap<string, Float32Array>,
    moments: ReadonlyMap<string, Moments>,
    settings: AdamWSettings,
  ): Promise<void>;
  /**
   * Returns rooms for parameters with these counts. AdamW works in them in place, which halves its time. Undefined for
   * a parameter that is too large, or if the system has no room. Call it before anything else.
   */
  rooms(counts: readonly number[], advice?: MemoryAdvice): (AdamWRoom | undefined)[];
  /** Adds gradients to sums of the same names, in place. */
  add(sums: ReadonlyMap<string, Float32Array>, gradients: ReadonlyMap<string, Float32Array>): Promise<void>;
  /** Returns the Euclidean norm of all gradients together. */
  norm(gradients: ReadonlyMap<string, Float32Array>): Promise<number>;
  /** Ends its threads. */
  close(): Promise<void>;
}

/** The count up to which one thread finishes before others would have woken up. */
const fewNumbers = 2 ** 19;

/** Creates an optimizer. Its threads start at the first update that is worth it. */
export function createAdamW(threads: number): AdamW {
  const opened = new Map<number, ReturnType<typeof openAdamWThreads>>();
  const memories: WebAssembly.Memory[] = [];
  const open = async (count: number) => {
    const made = await openAdamWThreads(count);
    made.attach(memories);
    return made;
  };
  const threadsFor = (counts: readonly number[]) => {
    const wanted = counts.reduce((sum, count) => sum + count, 0) < fewNumbers ? 1 : threads;
    const found = opened.get(wanted) ?? open(wanted);
    opened.set(wanted, found);
    return found;
  };
  const work = async (named: ReadonlyMap<string, Float32Array>, job: Pick<AdamWJob, "update" | "sums">) => {
    const gradients = [...named.values()];
    const counts = gradients.map(({ length }) => length);
    return (await threadsFor(counts)).run({ gradients, counts, ...job });
  };

  return {
    async update(parameters, gradients, moments, settings) {
      const { weightDecay, betas = [0.9, 0.999], gradientScale, update } = settings;
      const firstScale = 1 / (1 - betas[0] ** update);
      const secondScale = 1 / Math.sqrt(1 - betas[1] ** update);
      const rows = [...gradients.keys()].map((name): AdamWRow => {
        const { data, shape } = parameters.get(name)!;
        const learningRate = rateOf(name, settings);
        return {
          parameter: data,
          moments: moments.get(name)!,
          stepSize: learningRate * firstScale,
          kept: shape.length > 1 ? 1 - learningRate * weightDecay : 1,
        };
      });
      await work(gradients, { update: { rows, rates: { gradientScale, betas, secondScale } } });
    },
    rooms(counts, advice) {
      const made = createAdamWMemory(counts, threads);
      for (const { buffer } of made.memories) advice?.useHugePages(new Uint8Array(buffer));
      memories.push(...made.memories);
      return made.rooms;
    },
    async add(sums, gradients) {
      await work(gradients, { sums: [...gradients.keys()].map((name) => sums.get(name)!) });
    },
    async norm(gradients) {
      const sums = await work(gradients, {});
      return Math.sqrt(sums.reduce((total, sum) => total + sum, 0));
    },
    async close() {
      for (const one of await Promise.allSettled(opened.values()))
        if (one.status === "fulfilled") await one.value.close();
    },
  };
}
