import { EverturnError } from "../errors/everturn-error.ts";
import type { ModelConfig } from "../models/model-config.ts";
import { modelWeightShapes } from "../models/model-weights.ts";
import { elementCount } from "../onnx/element-count.ts";

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

/**
 * The memory of one version of a model: its weights as they are read and as ONNX Runtime packs them, and the keys and
 * values of as many sequences as there are slots, at their longest, but at most what they may take.
 */
export function planMemory(config: ModelConfig, slots: number, keyValueBytes: number): MemoryPlan {
  const values = [...modelWeightShapes(config).values()].reduce(
    (total, shape) => total + elementCount(shape),
    0,
  );
  const longest = slots * config.max_position_embeddings * bytesOfPosition(config);
  return {
    weights: 2 * values * Float32Array.BYTES_PER_ELEMENT,
    keyValues: Math.min(keyValueBytes, longest),
  };
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
