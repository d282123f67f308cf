import type { Tensor } from "../models/weights/safetensors.ts";
import type { MemoryAdvice } from "../onnx/memory-advice.ts";
import type { AdamWJob } from "./adamw-job.ts";
import { type AdamWRoom, createAdamWMemory } from "./adamw-memory.ts";
import type { AdamWRow, Moments } from "./adamw-rows.ts";
import { openAdamWThreads } from "./adamw-threads.ts";
import { type LearningRates, rateOf } from "./learning-rates.ts";

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

/** AdamW's arithmetic in float32 on several threads; bit for bit the same on any number of them. */
export interface AdamW {
  /**
   * Updates parameters and moments in place (AdamW, arXiv 1711.05101; epsilon 1e-8). Parameters without a gradient
   * stay as they are.
   */
  update(
    parameters: ReadonlyMap<string, Tensor>,
    gradients: ReadonlyMap<string, Float32Array>,
    moments: ReadonlyMap<string, Moments>,
    settings: AdamWSettings,
  ): Promise<void>;
  /**
   * Rooms for parameters of so many numbers: what lies there is worked on where it is, in half the time. Undefined for one that is too
   * large, or where the system has no room. To be asked for before anything else.
   */
  rooms(counts: readonly number[], advice?: MemoryAdvice): (AdamWRoom | undefined)[];
  /** Adds gradients to sums of the same names, in place. */
  add(sums: ReadonlyMap<string, Float32Array>, gradients: ReadonlyMap<string, Float32Array>): Promise<void>;
  /** The Euclidean norm of all gradients together. */
  norm(gradients: ReadonlyMap<string, Float32Array>): Promise<number>;
  /** Ends its threads. */
  close(): Promise<void>;
}

/** Numbers of which one thread alone makes less than others take to wake up. */
const fewNumbers = 2 ** 19;

/** An optimizer of its own. Its threads start when they are first worth while. */
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
