import { availableParallelism } from "node:os";
import type { ModelConfig } from "../config/model-config.ts";
import { modelWeightBytes } from "../weights/model-weights.ts";

/** Bytes of float32 weights from which a model's operators have work for all processors. */
const largeModel = 64 * 2 ** 20;

/** Threads for the operators of a model where nobody says how many: as many as there are processors if it is large, else `few`. */
export function usualThreads(config: ModelConfig, few: number): number {
  return modelWeightBytes(config) < largeModel ? few : Math.max(few, availableParallelism());
}

/**
 * The same for sampling: the most with which what is sampled doesn't depend on who shares the batch. A product may be split among
 * more threads than there are key-value heads, or for an adapter of a rank above 16, depending on its size.
 */
export function samplingThreads(config: ModelConfig, rank = 0): number {
  return rank > 16 ? 1 : Math.min(config.num_key_value_heads, usualThreads(config, 1));
}
