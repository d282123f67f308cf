import { EverturnError } from "../../base/errors/everturn-error.ts";
import { availableMemory, limitedMemory } from "../../base/processes/available-memory.ts";
import { contextLength, type ModelConfig } from "../models/config/model-config.ts";
import type { CachedDecoder } from "../models/decode/cached-decoder.ts";
import { bytesOfPosition, type KeyValueType } from "../models/decode/key-values.ts";
import { modelWeightBytes } from "../models/weights/model-weights.ts";
import type { Target } from "../onnx/target.ts";
import { encoderBytes } from "../vision/encoder-memory.ts";
import { longest } from "./key-value-cache.ts";

/** The most memory that a sampler uses, in bytes. */
export interface MemoryPlan {
  weights: number;
  /** For encoding images, whatever the number of versions. Default: 0. */
  images?: number;
  keyValues: number;
}

/** The settings of a plan. */
export interface MemoryAsked {
  /** Most bytes of keys and values. */
  keyValueBytes: number;
  /** Default: "float32". */
  keyValues?: KeyValueType;
  /** Bytes of the weights of one version in memory. */
  weights: number;
}

/**
 * Returns the positions that a cache's rows occupy, in whole steps. In a sparse cache each row occupies its own
 * positions, otherwise as many as the longest row.
 */
export function positionsTaken(lengths: readonly number[], step: number, sparse: boolean): number {
  const rounded = (length: number) => Math.ceil(length / step) * step;
  if (sparse) return lengths.reduce((total, length) => total + rounded(length), 0);
  return lengths.length * rounded(longest(lengths));
}

/**
 * Returns the bytes of keys and values that a sequence needs by itself. Its prompt is read in one cache and continued
 * in another.
 */
export function bytesAlone(
  { config, capacityStep, keyValues }: Pick<CachedDecoder, "config" | "capacityStep" | "keyValues">,
  prompt: number,
  room: number,
): number {
  return positionsTaken([prompt, room], capacityStep, true) * bytesOfPosition(config, keyValues.type);
}

/** How a version's weights are held. */
export interface WeightsAsked {
  /** Where the model runs. Default: "cpu". */
  device?: Target["device"];
  /** Bytes of quantized matrices and the tensors with them; undefined for floats. */
  fewBits: number | undefined;
  /** Whether quantized matrices are widened to read whole blocks of prompts. */
  isWidened: boolean;
}

/**
 * The most memory that a quantized version uses on the CPU, including temporary memory of its products, per byte of its
 * file. Measured with five shapes. ONNX Runtime's packed matrices take up to 1.23, and pages of embeddings are read
 * from the file. If matrices are widened, all of the file's pages are read.
 */
const heldOfFewBits = { packed: 1.75, widened: 2.25 };

/**
 * Returns the bytes of the weights of one version. The CPU releases floats after packing them, except the embeddings,
 * whose rows are read. On a card all weights count twice.
 */
export function versionBytes(
  config: ModelConfig,
  { device = "cpu", fewBits, isWidened }: WeightsAsked,
): number {
  if (fewBits !== undefined) {
    const { packed, widened } = heldOfFewBits;
    return Math.ceil((device !== "cpu" ? 2 : isWidened ? widened : packed) * fewBits);
  }
  const floats = modelWeightBytes(config);
  const embeddings = config.vocab_size * config.hidden_size * Float32Array.BYTES_PER_ELEMENT;
  return floats + (device === "cpu" ? embeddings : floats);
}

/**
 * Returns the memory of one version of a model: its weights, its image encoder, and the keys and values of one sequence
 * per slot at its longest, up to their limit. One layer's array is held twice while it grows.
 */
export function planMemory(
  config: ModelConfig,
  slots: number,
  { keyValueBytes, keyValues, weights }: MemoryAsked,
): MemoryPlan {
  const bytesAtLongest = slots * contextLength(config) * bytesOfPosition(config, keyValues);
  return {
    weights,
    images: encoderBytes(config),
    keyValues: Math.ceil(Math.min(keyValueBytes, bytesAtLongest) * (1 + 1 / (2 * config.num_hidden_layers))),
  };
}

/** The least default limit of keys and values, in bytes. On a card it is the default. */
export const usualKeyValues = 2 ** 30;

/**
 * Returns the default limit of keys and values: an eighth of the machine's memory, or of this process's limit, but at
 * least 1 GiB.
 */
export function usualKeyValueBytes(memory = limitedMemory()): number {
  return Math.max(usualKeyValues, memory / 8);
}

/**
 * Returns the bytes of a plan's keys and values that must be available. With less, only few sequences decode at once.
 * `isAsked`: the limit is configured.
 */
export function leastKeyValues(keyValues: number, isAsked: boolean): number {
  return (isAsked ? keyValues : Math.min(keyValues, usualKeyValues)) / 4;
}

/**
 * Returns the share of a plan's keys and values that fits into this process's available memory with the weights. Throws
 * SAMPLING_MEMORY_SHORT if it is less than a quarter, or, without a configured limit, less than 256 MiB.
 */
export function fittingShare(
  { weights, images = 0, keyValues }: MemoryPlan,
  available = availableMemory(),
  isAsked = true,
): number {
  checkMemory({ weights, images, keyValues: leastKeyValues(keyValues, isAsked) }, available);
  return Math.min(1, (available - weights - images) / keyValues);
}

/** Throws SAMPLING_MEMORY_SHORT if a plan exceeds this process's available memory. */
export function checkMemory(
  { weights, images = 0, keyValues }: MemoryPlan,
  available = availableMemory(),
): void {
  if (weights + images + keyValues <= available) return;
  throw new EverturnError("SAMPLING_MEMORY_SHORT", {
    weights: mebibytes(weights + images),
    keyValues: mebibytes(keyValues),
    available: mebibytes(available),
  });
}

/** Formats bytes for people. */
export function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
