import { basename } from "node:path";
import { type FrozenMatrix, frozenBytes, type HalfMatrix } from "../../onnx/frozen-matrix.ts";
import type { QuantizedMatrix } from "../../onnx/quantized-matrix.ts";
import { readPlainWeights, readVisionWeights, readWeights } from "./checkpoint.ts";
import type { FloatType } from "./float-types.ts";
import { locateTensors } from "./located-tensors.ts";
import { isQuantizedPart, takeQuantized } from "./quantized-tensors.ts";
import type { Tensor } from "./safetensors.ts";
import type { StoredType } from "./safetensors-header.ts";
import { isVisionWeight } from "./vision-weights.ts";

/** A tensor that stays in a file of its folder. The offset is in bytes. */
export interface StoredTensor {
  readonly dtype: FloatType;
  readonly shape: readonly number[];
  readonly file: string;
  readonly offset: number;
}

/** Weights by name, in memory or in the files of a folder, with quantized matrices separate. */
export interface WeightSources {
  readonly folder?: string;
  readonly tensors: ReadonlyMap<string, Tensor | StoredTensor>;
  readonly quantized?: ReadonlyMap<string, QuantizedMatrix>;
}

/** Frozen matrices of a model, quantized or in half precision. */
export interface FrozenBase {
  /** The folder of those that are not in memory. */
  readonly folder?: string;
  readonly frozen: ReadonlyMap<string, FrozenMatrix>;
}

/** Returns the type of all tensors of the language part in a model's folder; F32 if they differ. Throws the errors of `readWeights`. */
export async function storedType(folder: string): Promise<FloatType> {
  const types = new Set((await storedTensors(folder)).map(([, { dtype }]) => dtype));
  const [only] = types;
  return types.size === 1 && only !== undefined && only !== "U8" ? only : "F32";
}

/**
 * Models below this many bytes are read into memory, so that their weights can be joined and the model is one piece.
 */
const smallModel = 64 * 2 ** 20;

/**
 * Returns the weights of a model's folder for a session. Weights of large and quantized models stay in their files,
 * which ONNX Runtime maps into memory. Throws the errors of `readWeights`.
 */
export async function weightSources(folder: string): Promise<WeightSources> {
  const stored = new Map(await storedTensors(folder));
  const bytes = sizeOf(stored.values());
  const quantized = takeQuantized(stored);
  const tensors = new Map<string, StoredTensor>();
  for (const [name, { dtype, ...place }] of stored)
    if (dtype !== "U8") tensors.set(name, { ...place, dtype });
  if (quantized.size > 0) return { folder, tensors, quantized };
  return bytes < smallModel ? { tensors: await readWeights(folder) } : { folder, tensors };
}

/**
 * Returns the weights of the vision part in a model's folder for a session. Those of large parts stay in their files.
 * Throws the errors of `readWeights`.
 */
export async function visionSources(folder: string): Promise<WeightSources> {
  const tensors = new Map<string, StoredTensor>();
  const stored = new Map(await storedTensors(folder, (name) => !isVisionWeight(name)));
  for (const [name, { dtype, ...place }] of stored)
    if (dtype !== "U8") tensors.set(name, { ...place, dtype });
  return sizeOf(stored.values()) < smallModel
    ? { tensors: await readVisionWeights(folder) }
    : { folder, tensors };
}

/** A tensor in a file, possibly part of a quantized matrix. */
interface FileTensor extends Omit<StoredTensor, "dtype"> {
  readonly dtype: StoredType;
  readonly bytes: number;
}

async function storedTensors(folder: string, isUnwanted = isVisionWeight): Promise<[string, FileTensor][]> {
  return Array.from(await locateTensors(folder, isUnwanted), ([name, { dtype, shape, path, begin, end }]) => [
    name,
    { dtype, shape, file: basename(path), offset: begin, bytes: end - begin },
  ]);
}

function sizeOf(tensors: Iterable<FileTensor>): number {
  return Array.from(tensors, ({ bytes }) => bytes).reduce((total, bytes) => total + bytes, 0);
}

/** Returns the bytes of the weights in a folder with quantized matrices; undefined for others. */
export async function quantizedBytes(folder: string): Promise<number | undefined> {
  const stored = new Map(await storedTensors(folder));
  return [...stored.keys()].some(isQuantizedPart) ? sizeOf(stored.values()) : undefined;
}

/** Below this many bytes, a half-precision base is small, and faster as float32. */
export const smallBase = 512 * 2 ** 20;

/**
 * Reads the weights of a model's folder for training an adapter over them. Quantized matrices stay in their files, and
 * so do half-precision ones with at least `mappedFrom` bytes in total. All others are read into memory. Throws the
 * errors of `readWeights`.
 */
export async function readFrozenWeights(
  folder: string,
  mappedFrom = smallBase,
): Promise<{ weights: Map<string, Tensor>; base?: FrozenBase }> {
  const stored = new Map(await storedTensors(folder));
  const quantized = takeQuantized(stored);
  const halves = halfMatrices(stored);
  const bytes = [...halves.values()].reduce((total, matrix) => total + frozenBytes(matrix), 0);
  const frozen = new Map<string, FrozenMatrix>([...quantized, ...(bytes >= mappedFrom ? halves : [])]);
  if (frozen.size === 0) return { weights: await readWeights(folder) };
  const weights = await readPlainWeights(folder, (name) => frozen.has(name));
  return { weights, base: { folder, frozen } };
}

function halfMatrices(stored: ReadonlyMap<string, FileTensor>): Map<string, HalfMatrix> {
  const halves = new Map<string, HalfMatrix>();
  for (const [name, { dtype, shape, file, offset }] of stored) {
    if ((dtype !== "F16" && dtype !== "BF16") || shape.length !== 2) continue;
    halves.set(name, { shape, type: dtype === "F16" ? "float16" : "bfloat16", values: { file, offset } });
  }
  return halves;
}
