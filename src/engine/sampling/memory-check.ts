import { EverturnError } from "../../base/errors/everturn-error.ts";
import { availableMemory, limitedMemory } from "../../base/processes/available-memory.ts";
import { contextLength, type ModelConfig } from "../models/config/model-config.ts";
import type { CachedDecoder } from "../models/decode/cached-decoder.ts";
import { bytesOfPosition, type KeyValueType } from "../models/decode/key-values.ts";
import { modelWeightBytes } from "../models/weights/model-weights.ts";
import type { Target } from "../onnx/target.ts";
import { longest } from "./key-value-cache.ts";

/** What a sampler may come to hold, in bytes. */
export interface MemoryPlan {
  weights: number;
  keyValues: number;
}

/** What a plan is made for. */
export interface MemoryAsked {
  /** Bytes that keys and values may take. */
  keyValueBytes: number;
  /** Default "float32". */
  keyValues?: KeyValueType;
  /** Bytes of the weights as one version holds them. */
  weights: number;
}

/** Positions that rows of a cache take, in steps: their own in a sparse one, else each as many as the longest. */
export function positionsTaken(lengths: readonly number[], step: number, sparse: boolean): number {
  const rounded = (length: number) => Math.ceil(length / step) * step;
  if (sparse) return lengths.reduce((total, length) => total + rounded(length), 0);
  return lengths.length * rounded(longest(lengths));
}

/** Bytes of keys and values that a sequence needs alone: its prompt is read in one place, and continued in another. */
export function bytesAlone(
  { config, capacityStep, keyValues }: Pick<CachedDecoder, "config" | "capacityStep" | "keyValues">,
  prompt: number,
  room: number,
): number {
  return positionsTaken([prompt, room], capacityStep, true) * bytesOfPosition(config, keyValues.type);
}

/** How a version's weights are held. */
export interface WeightsAsked {
  /** Where the model runs; default "cpu". */
  device?: Target["device"];
  /** Bytes of matrices of few bits and what is beside them; undefined for floats. */
  fewBits: number | undefined;
  /** Whether those are widened for whole blocks of prompts. */
  isWidened: boolean;
}

/**
 * What a version of few bits holds on the processor for each byte of its file, with what its products take beside it, at most, as measured of
 * five shapes: what ONNX Runtime packs is up to 1.23, pages of embeddings are read from the file; where whole blocks of prompts are widened, all pages.
 */
const heldOfFewBits = { packed: 1.75, widened: 2.25 };

/**
 * Bytes of the weights of one version. The processor lets go of floats that it has packed, but for the embeddings, whose rows are read; on a
 * card all are counted twice.
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
 * The memory of one version of a model: its weights, and the keys and values of as many sequences as there are slots, at their longest, but at
 * most what they may take, and a second array of one layer while they grow.
 */
export function planMemory(
  config: ModelConfig,
  slots: number,
  { keyValueBytes, keyValues, weights }: MemoryAsked,
): MemoryPlan {
  const longest = slots * contextLength(config) * bytesOfPosition(config, keyValues);
  return {
    weights,
    keyValues: Math.ceil(Math.min(keyValueBytes, longest) * (1 + 1 / (2 * config.num_hidden_layers))),
  };
}

/** Bytes that keys and values may take where nobody says how many, at least; on a card just so many. */
export const usualKeyValues = 2 ** 30;

/** What keys and values may take where nobody says: an eighth of the memory of the machine, or of what this process may have of it, at least 1 GiB. */
export function usualKeyValueBytes(memory = limitedMemory()): number {
  return Math.max(usualKeyValues, memory / 8);
}

/** Of the bytes for keys and values of a plan, those that there must be: with less, few sequences decode at once. `isAsked`: somebody said how many they may take. */
export function leastKeyValues(keyValues: number, isAsked: boolean): number {
  return (isAsked ? keyValues : Math.min(keyValues, usualKeyValues)) / 4;
}

/**
 * The share of a plan's keys and values that fits beside its weights into the memory that is available to this process.
 * Throws SAMPLING_MEMORY_SHORT if it is less than a quarter, or, where nobody said how much they may take, than 256 MiB.
 */
export function fittingShare(
  { weights, keyValues }: MemoryPlan,
  available = availableMemory(),
  isAsked = true,
): number {
  checkMemory({ weights, keyValues: leastKeyValues(keyValues, isAsked) }, available);
  return Math.min(1, (available - weights) / keyValues);
}

/** Throws SAMPLING_MEMORY_SHORT if a plan exceeds the memory that is available to this process. */
export function checkMemory({ weights, keyValues }: MemoryPlan, available = availableMemory()): void {
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
