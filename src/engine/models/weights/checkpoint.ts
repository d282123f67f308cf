import { join } from "node:path";
import { persistently } from "../../../base/files/persistently.ts";
import { writeWhole } from "../../../base/files/whole-files.ts";
import { defined } from "../../../base/records/defined.ts";
import { elementCount } from "../../onnx/element-count.ts";
import { type FloatType, floatBytes } from "./float-types.ts";
import { loadAll } from "./lazy-tensor.ts";
import {
  indexFile,
  invalidCheckpoint,
  locateTensors,
  type PlacedTensor,
  readPlacedBytes,
  readPlacedFloats,
  wholeFile,
} from "./located-tensors.ts";
import { dequantizeMatrix, type HeldMatrix } from "./quantize.ts";
import { isQuantizedPart, type MatrixParts, quantizedTensors, takeQuantized } from "./quantized-tensors.ts";
import { type ByteTensor, isBytes, type LazyTensor, type Tensor, writeSafetensors } from "./safetensors.ts";
import { isVisionWeight, languageWeights, storedNames } from "./vision-weights.ts";

/** The weights of a model's folder by name: floats, which are loaded one by one, and quantized matrices. */
export interface ModelWeights {
  tensors: Map<string, LazyTensor>;
  quantized: Map<string, HeldMatrix>;
}

/**
 * Reads the weights of a model's folder, without those of a vision part, widened to float32, from model.safetensors or
 * from the shards that model.safetensors.index.json lists. Throws CHECKPOINT_INVALID or SAFETENSORS_INVALID, which name
 * file and tensor.
 */
export async function readWeights(folder: string): Promise<Map<string, Tensor>> {
  return loadAll(languageWeights(await openWeights(folder)));
}

/** Reads the weights of the vision part in a model's folder, widened to float32; none if it has none. */
export async function readVisionWeights(folder: string): Promise<Map<string, Tensor>> {
  return loadAll(await openVisionWeights(folder));
}

/** Opens the weights of the vision part in a model's folder for loading one by one. */
export async function openVisionWeights(folder: string): Promise<Map<string, LazyTensor>> {
  return onlyFloats(folder, await locateTensors(folder, (name) => !isVisionWeight(name)));
}

/** Opens the weights of a model's folder for loading one by one. */
export async function openWeights(folder: string): Promise<Map<string, LazyTensor>> {
  const places = await locateTensors(folder);
  const matrices = takeQuantized(places);
  const weights = onlyFloats(folder, places);
  for (const [name, parts] of matrices) {
    const load = async () => dequantizeMatrix(await readMatrix(folder, name, parts));
    weights.set(name, { shape: parts.shape, load });
  }
  return weights;
}

/** Opens the weights of a model's folder. Reads quantized matrices unchanged into memory. */
export async function openModelWeights(folder: string): Promise<ModelWeights> {
  const places = await locateTensors(folder);
  const quantized = new Map<string, HeldMatrix>();
  for (const [name, parts] of takeQuantized(places))
    quantized.set(name, await readMatrix(folder, name, parts));
  return { tensors: onlyFloats(folder, places), quantized };
}

/** Reads only the weights that are neither quantized nor frozen elsewhere. */
export async function readPlainWeights(
  folder: string,
  isElsewhere: (name: string) => boolean,
): Promise<Map<string, Tensor>> {
  const isUnwanted = (name: string) => isQuantizedPart(name) || isVisionWeight(name) || isElsewhere(name);
  const places = await locateTensors(folder, isUnwanted);
  return loadAll(onlyFloats(folder, places));
}

function onlyFloats(folder: string, places: ReadonlyMap<string, PlacedTensor>): Map<string, LazyTensor> {
  return new Map(
    Array.from(places, ([name, { dtype, ...place }]) => {
      if (dtype === "U8") throw invalidCheckpoint(folder, `the tensor ${name} is U8, and has no scales`);
      return [name, { shape: place.shape, load: () => readPlacedFloats({ ...place, dtype }) }];
    }),
  );
}

async function readMatrix(
  folder: string,
  name: string,
  { values, scales, minimums, ...matrix }: MatrixParts<PlacedTensor>,
): Promise<HeldMatrix> {
  const floats = async ({ dtype, ...place }: PlacedTensor) => {
    if (dtype === "U8" || values.dtype !== "U8")
      throw invalidCheckpoint(folder, `the quantized matrix ${name} has parts of wrong types`);
    return (await readPlacedFloats({ ...place, dtype })).data;
  };
  return defined({
    ...matrix,
    scales: await floats(scales),
    minimums: minimums && (await floats(minimums)),
    values: (await readPlacedBytes(values)).data,
  });
}

type WrittenTensor = Tensor | ByteTensor | LazyTensor;

/**
 * Writes weights into a folder: model.safetensors, or, above `shardBytes` (5 GB), shards of at most that size and their
 * index. A larger tensor has its own shard. Equal weights give equal files.
 */
export async function writeWeights(
  folder: string,
  weights: ReadonlyMap<string, WrittenTensor>,
  options: { dtype?: FloatType; shardBytes?: number } = {},
): Promise<void> {
  const { dtype = "F32", shardBytes = 5e9 } = options;
  const names = storedNames(weights.keys());
  const stored = new Map(Array.from(weights, ([name, tensor]) => [names.get(name)!, tensor]));
  const shards = splitIntoShards(stored, shardBytes, floatBytes[dtype]);
  if (shards.length <= 1) return writeSafetensors(join(folder, wholeFile), stored, { dtype });
  const placed: [string, string][] = [];
  for (const [at, shard] of shards.entries()) {
    const number = (value: number) => String(value).padStart(5, "0");
    const file = `model-${number(at + 1)}-of-${number(shards.length)}.safetensors`;
    await writeSafetensors(join(folder, file), shard, { dtype });
    for (const name of shard.keys()) placed.push([name, file]);
  }
  const sum = (of: (tensor: WrittenTensor) => number) =>
    [...weights.values()].reduce((total, tensor) => total + of(tensor), 0);
  const index = {
    metadata: {
      total_parameters: sum(({ shape }) => elementCount(shape)),
      total_size: sum((tensor) => bytesOf(tensor, floatBytes[dtype])),
    },
    weight_map: Object.fromEntries(placed),
  };
  await persistently(() => writeWhole(join(folder, indexFile), `${JSON.stringify(index, null, 2)}\n`));
}

/** Writes floats (as `dtype`) and quantized matrices into a folder like `writeWeights`. */
export async function writeModelWeights(
  folder: string,
  { tensors, quantized }: ModelWeights,
  dtype: FloatType = "F32",
): Promise<void> {
  const all = new Map<string, WrittenTensor>([...tensors, ...quantizedTensors(quantized)]);
  await writeWeights(folder, all, { dtype });
}

function splitIntoShards(
  weights: ReadonlyMap<string, WrittenTensor>,
  limit: number,
  width: number,
): Map<string, WrittenTensor>[] {
  const shards: Map<string, WrittenTensor>[] = [];
  let filled = Number.POSITIVE_INFINITY;
  for (const name of [...weights.keys()].sort()) {
    const tensor = weights.get(name)!;
    const bytes = bytesOf(tensor, width);
    if (filled + bytes > limit) {
      shards.push(new Map());
      filled = 0;
    }
    shards.at(-1)?.set(name, tensor);
    filled += bytes;
  }
  return shards;
}

/** Returns the bytes of a tensor in a file whose floats have `width` bytes. */
function bytesOf(tensor: WrittenTensor, width: number): number {
  return elementCount(tensor.shape) * (isBytes(tensor) ? 1 : width);
}
