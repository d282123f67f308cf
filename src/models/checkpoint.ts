import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isObject } from "../contracts/json.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { writeWhole } from "../files/whole-files.ts";
import { type FloatType, floatBytes } from "./float-types.ts";
import { dequantizeMatrix, type HeldMatrix } from "./quantize.ts";
import { isQuantizedPart, takeQuantized } from "./quantized-tensors.ts";
import { type ByteTensor, readTensors, type Tensor, writeSafetensors } from "./safetensors.ts";

export const wholeFile = "model.safetensors";
export const indexFile = "model.safetensors.index.json";

/** Whether a file of a model's folder holds weights, or says which files do. */
export function isWeightsFile(name: string): boolean {
  return /^model(-\d+-of-\d+)?\.safetensors$/.test(name) || name === indexFile;
}

/** The weights of a model's folder: floats, and matrices that are quantized, by their names. */
export interface ModelWeights {
  tensors: Map<string, Tensor>;
  quantized: Map<string, HeldMatrix>;
}

/**
 * Reads the weights of a model's folder, widened to float32: model.safetensors, or the shards that
 * model.safetensors.index.json names. Throws CHECKPOINT_INVALID or SAFETENSORS_INVALID, which name file and tensor.
 */
export async function readWeights(folder: string): Promise<Map<string, Tensor>> {
  const { tensors, quantized } = await readModelWeights(folder);
  for (const [name, matrix] of quantized) tensors.set(name, dequantizeMatrix(matrix));
  return tensors;
}

/** The same, with quantized matrices as they are. */
export async function readModelWeights(folder: string): Promise<ModelWeights> {
  const found = await readFiles(folder);
  const matrices = takeQuantized(found);
  const tensors = onlyFloats(folder, found);
  const quantized = new Map<string, HeldMatrix>();
  for (const [name, { values, scales, minimums, ...matrix }] of matrices) {
    const [bytes, floats, least] = [values.data, scales.data, minimums?.data];
    if (!(bytes instanceof Uint8Array) || floats instanceof Uint8Array || least instanceof Uint8Array) {
      throw invalid(folder, `the quantized matrix ${name} has parts of wrong types`);
    }
    quantized.set(name, { ...matrix, values: bytes, scales: floats, ...(least && { minimums: least }) });
  }
  return { tensors, quantized };
}

/** Those that are not quantized, nor frozen elsewhere, alone. */
export async function readPlainWeights(
  folder: string,
  isElsewhere: (name: string) => boolean,
): Promise<Map<string, Tensor>> {
  const found = await readFiles(folder, (name) => isQuantizedPart(name) || isElsewhere(name));
  return onlyFloats(folder, found);
}

function onlyFloats(folder: string, found: ReadonlyMap<string, Tensor | ByteTensor>): Map<string, Tensor> {
  const tensors = new Map<string, Tensor>();
  for (const [name, { shape, data }] of found) {
    if (data instanceof Uint8Array) throw invalid(folder, `the tensor ${name} is U8, and has no scales`);
    tensors.set(name, { shape, data });
  }
  return tensors;
}

async function readFiles(
  folder: string,
  isUnwanted?: (name: string) => boolean,
): Promise<Map<string, Tensor | ByteTensor>> {
  if (existsSync(join(folder, wholeFile))) return readTensors(join(folder, wholeFile), isUnwanted);
  if (!existsSync(join(folder, indexFile))) {
    throw invalid(folder, `there is neither ${wholeFile} nor ${indexFile}`);
  }
  const places = await readIndex(folder);
  const weights = new Map<string, Tensor | ByteTensor>();
  for (const shard of new Set(places.values())) {
    if (!existsSync(join(folder, shard))) {
      throw invalid(folder, `${indexFile} names the shard ${shard}, which is missing`);
    }
    for (const [name, tensor] of await readTensors(join(folder, shard), isUnwanted)) {
      if (places.get(name) === shard) weights.set(name, tensor);
    }
  }
  for (const [name, shard] of places) {
    if (!weights.has(name) && !isUnwanted?.(name))
      throw invalid(folder, `${shard} lacks the tensor ${name} that ${indexFile} puts there`);
  }
  return weights;
}

/**
 * Writes weights into a folder: model.safetensors, or, above `shardBytes` (5 GB), shards of at most that size (a
 * larger tensor has one of its own) and their index. Equal weights give equal files.
 */
export async function writeWeights(
  folder: string,
  weights: ReadonlyMap<string, Tensor | ByteTensor>,
  options: { dtype?: FloatType; shardBytes?: number } = {},
): Promise<void> {
  const { dtype = "F32", shardBytes = 5e9 } = options;
  const shards = splitIntoShards(weights, shardBytes, floatBytes[dtype]);
  if (shards.length <= 1) return writeSafetensors(join(folder, wholeFile), weights, { dtype });
  const placed: [string, string][] = [];
  for (const [at, shard] of shards.entries()) {
    const number = (value: number) => String(value).padStart(5, "0");
    const file = `model-${number(at + 1)}-of-${number(shards.length)}.safetensors`;
    await writeSafetensors(join(folder, file), shard, { dtype });
    for (const name of shard.keys()) placed.push([name, file]);
  }
  const sum = (of: (tensor: Tensor | ByteTensor) => number) =>
    [...weights.values()].reduce((total, tensor) => total + of(tensor), 0);
  const index = {
    metadata: {
      total_parameters: sum(({ data }) => data.length),
      total_size: sum((tensor) => bytesOf(tensor, floatBytes[dtype])),
    },
    weight_map: Object.fromEntries(placed),
  };
  await writeWhole(join(folder, indexFile), `${JSON.stringify(index, null, 2)}\n`);
}

function splitIntoShards(
  weights: ReadonlyMap<string, Tensor | ByteTensor>,
  limit: number,
  width: number,
): Map<string, Tensor | ByteTensor>[] {
  const shards: Map<string, Tensor | ByteTensor>[] = [];
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

/** Bytes of a tensor in a file where a float has `width`. */
function bytesOf({ data }: Tensor | ByteTensor, width: number): number {
  return data.length * (data instanceof Uint8Array ? 1 : width);
}

/** The files of a model's folder that hold its weights. Throws CHECKPOINT_INVALID. */
export async function weightFiles(folder: string): Promise<string[]> {
  if (existsSync(join(folder, wholeFile))) return [wholeFile];
  if (!existsSync(join(folder, indexFile))) {
    throw invalid(folder, `there is neither ${wholeFile} nor ${indexFile}`);
  }
  return [...new Set((await readIndex(folder)).values())];
}

async function readIndex(folder: string): Promise<Map<string, string>> {
  let index: unknown;
  try {
    index = JSON.parse(await readFile(join(folder, indexFile), "utf8"));
  } catch (cause) {
    throw invalid(folder, `${indexFile} is not JSON`, cause);
  }
  const map = isObject(index) ? index.weight_map : undefined;
  if (!isObject(map)) throw invalid(folder, `${indexFile} has no weight_map`);
  return new Map(
    Object.entries(map).map(([name, shard]) => {
      if (typeof shard === "string" && shard === basename(shard)) return [name, shard];
      throw invalid(
        folder,
        `${indexFile} puts the tensor ${name} into ${JSON.stringify(shard)}, which is no file name`,
      );
    }),
  );
}

function invalid(folder: string, reason: string, cause?: unknown): EverturnError {
  return new EverturnError("CHECKPOINT_INVALID", { folder, reason }, { cause });
}
