import { EverturnError } from "../errors/everturn-error.ts";
import { contextLength, type ModelConfig } from "../models/model-config.ts";
import { modelWeightShapes } from "../models/model-weights.ts";
import { elementCount } from "../onnx/element-count.ts";
import { longest } from "./key-value-cache.ts";

/** What a sampler may come to hold, in bytes. */
export interface MemoryPlan {
  weights: number;
  keyValues: number;
}

/** Bytes of keys and values of one position of one sequence. */
export function bytesOfPosition({
  num_hidden_layers: layers,
  num_key_value_heads: heads,
  head_dim: headSize,
}: ModelConfig): number {
  return 2 * layers * heads * headSize * Float32Array.BYTES_PER_ELEMENT;
}

/** Positions that rows of a cache take, in steps: their own in a sparse one, else each as many as the longest. */
export function positionsTaken(lengths: readonly number[], step: number, sparse: boolean): number {
  const rounded = (length: number) => Math.ceil(length / step) * step;
  if (sparse) return lengths.reduce((total, length) => total + rounded(length), 0);
  return lengths.length * rounded(longest(lengths));
}

/** Bytes of keys and values that a sequence needs alone: its prompt is read in one place, and continued in another. */
export function bytesAlone(config: ModelConfig, step: number, prompt: number, room: number): number {
  return positionsTaken([prompt, room], step, true) * bytesOfPosition(config);
}

/**
 * The memory of one version of a model: its weights as they are read (float32, or of so many bytes) and as ONNX Runtime packs them, and the keys and
 * values of as many sequences as there are slots, at their longest, but at most what they may take, and a second array of
 * one layer while they grow.
 */
export function planMemory(
  config: ModelConfig,
  slots: number,
  keyValueBytes: number,
  weightBytes?: number,
): MemoryPlan {
  const values = [...modelWeightShapes(config).values()].reduce(
    (total, shape) => total + elementCount(shape),
    0,
  );
  const longest = slots * contextLength(config) * bytesOfPosition(config);
  return {
    weights: 2 * (weightBytes ?? values * Float32Array.BYTES_PER_ELEMENT),
    keyValues: Math.ceil(Math.min(keyValueBytes, longest) * (1 + 1 / (2 * config.num_hidden_layers))),
  };
}

/** The share of the keys and values of a plan that there must be memory for: with less, few sequences decode at once. */
const leastKeyValues = 1 / 4;

/**
 * The share of a plan's keys and values that fits beside its weights into the memory that is available to this process.
 * Throws SAMPLING_MEMORY_SHORT if it is less than a quarter.
 */
export function fittingShare(
  { weights, keyValues }: MemoryPlan,
  available = process.availableMemory(),
): number {
  checkMemory({ weights, keyValues: leastKeyValues * keyValues }, available);
  return Math.min(1, (available - weights) / keyValues);
}

/** Throws SAMPLING_MEMORY_SHORT if a plan exceeds the memory that is available to this process. */
export function checkMemory({ weights, keyValues }: MemoryPlan, available = process.availableMemory()): void {
  if (weights + keyValues <= available) return;
  throw new EverturnError("SAMPLING_MEMORY_SHORT", {
    weights: mebibytes(weights),
    keyValues: mebibytes(keyValues),
    available: mebibytes(available),
  });
}

/** Bytes as a person reads them. */
export function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
