import { availableParallelism } from "node:os";
import type { ModelConfig } from "../config/model-config.ts";
import { modelWeightBytes } from "../weights/model-weights.ts";

/** Bytes of float32 weights from which a model's operators can use all processors. */
const largeModel = 64 * 2 ** 20;

/**
 * Returns the default threads for a model's operators: as many as there are processors if it is large, otherwise `few`.
 */
export function usualThreads(config: ModelConfig, few: number): number {
  return modelWeightBytes(config) < largeModel ? few : Math.max(few, availableParallelism());
}

/**
 * Returns the default threads for sampling: the most with which samples don't depend on the rest of the batch. With
 * more threads than key-value heads, or with an adapter of a rank above 16, products may be split depending on their
 * size.
 */
export function samplingThreads(config: ModelConfig, rank = 0): number {
  return rank > 16 ? 1 : Math.min(config.num_key_value_heads, usualThreads(config, 1));
}
