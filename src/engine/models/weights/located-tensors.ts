import { type FileHandle, open, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isSurelyThere } from "../../../base/files/is-there.ts";
import { persistently } from "../../../base/files/persistently.ts";
import { isObject } from "../../../contracts/json.ts";
import type { FloatType } from "./float-types.ts";
import { type ByteTensor, readBytes, readFloats, type Tensor } from "./safetensors.ts";
import { invalidSafetensors, readSafetensorsHeader, type StoredTensor } from "./safetensors-header.ts";
import { innerName } from "./vision-weights.ts";

export const wholeFile = "model.safetensors";
export const indexFile = "model.safetensors.index.json";

/** Whether a file of a model's folder contains weights, or lists the files that do. */
export function isWeightsFile(name: string): boolean {
  return /^model(-\d+-of-\d+)?\.safetensors$/.test(name) || name === indexFile;
}

/** A tensor in one of a folder's files, with its name there. */
export interface PlacedTensor extends StoredTensor {
  readonly name: string;
  readonly path: string;
}

/**
 * Finds the requested tensors of a model's folder by their names in the engine (`innerName`), in model.safetensors or in the shards that its index lists. Throws
 * CHECKPOINT_INVALID or SAFETENSORS_INVALID.
 */
export async function locateTensors(
  folder: string,
  isUnwanted?: (name: string) => boolean,
): Promise<Map<string, PlacedTensor>> {
  const places = await placesOf(folder, isUnwanted && ((name) => isUnwanted(innerName(name))));
  return new Map(Array.from(places, ([name, place]) => [innerName(name), place]));
}

async function placesOf(
  folder: string,
  isUnwanted?: (name: string) => boolean,
): Promise<Map<string, PlacedTensor>> {
  if (isSurelyThere(join(folder, wholeFile))) return placesIn(join(folder, wholeFile), isUnwanted);
  if (!isSurelyThere(join(folder, indexFile))) {
    throw invalidCheckpoint(folder, `there is neither ${wholeFile} nor ${indexFile}`);
  }
  const shards = await readIndex(folder);
  const places = new Map<string, PlacedTensor>();
  for (const shard of new Set(shards.values())) {
    if (!isSurelyThere(join(folder, shard))) {
      throw invalidCheckpoint(folder, `${indexFile} names the shard ${shard}, which is missing`);
    }
    for (const [name, place] of await placesIn(join(folder, shard), isUnwanted)) {
      if (shards.get(name) === shard) places.set(name, place);
    }
  }
  for (const [name, shard] of shards) {
    if (!places.has(name) && !isUnwanted?.(name))
      throw invalidCheckpoint(folder, `${shard} lacks the tensor ${name} that ${indexFile} puts there`);
  }
  return places;
}

async function placesIn(
  path: string,
  isUnwanted?: (name: string) => boolean,
): Promise<Map<string, PlacedTensor>> {
  return persistently(() => placesNow(path, isUnwanted));
}

async function placesNow(
  path: string,
  isUnwanted?: (name: string) => boolean,
): Promise<Map<string, PlacedTensor>> {
  const file = await open(path);
  try {
    const header = await readSafetensorsHeader(path, file, isUnwanted);
    return new Map([...header].map(([name, stored]) => [name, { ...stored, name, path }]));
  } finally {
    await file.close();
  }
}

/** Reads a tensor of floats, widened to float32. Throws SAFETENSORS_INVALID if its file is truncated or missing. */
export async function readPlacedFloats({
  path,
  name,
  ...stored
}: PlacedTensor & { dtype: FloatType }): Promise<Tensor> {
  return persistently(() => reading(path, name, (file) => readFloats(path, file, name, stored)));
}

/** Reads the bytes of a tensor. Throws SAFETENSORS_INVALID if its file is truncated or missing. */
export async function readPlacedBytes({ path, name, ...stored }: PlacedTensor): Promise<ByteTensor> {
  return persistently(() => reading(path, name, (file) => readBytes(path, file, name, stored)));
}

async function reading<Found>(
  path: string,
  name: string,
  read: (file: FileHandle) => Promise<Found>,
): Promise<Found> {
  const file = await open(path).catch((cause: unknown) => {
    throw invalidSafetensors(path, `it can't be opened again, for tensor ${name}: ${String(cause)}`);
  });
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

async function readIndex(folder: string): Promise<Map<string, string>> {
  let index: unknown;
  try {
    index = JSON.parse(await persistently(() => readFile(join(folder, indexFile), "utf8")));
  } catch (cause) {
    throw invalidCheckpoint(folder, `${indexFile} is not JSON`, cause);
  }
  const map = isObject(index) ? index.weight_map : undefined;
  if (!isObject(map)) throw invalidCheckpoint(folder, `${indexFile} has no weight_map`);
  return new Map(
    Object.entries(map).map(([name, shard]) => {
      if (typeof shard === "string" && shard === basename(shard)) return [name, shard];
      throw invalidCheckpoint(
        folder,
        `${indexFile} puts the tensor ${name} into ${JSON.stringify(shard)}, which is not a file name`,
      );
    }),
  );
}

/** Returns the error CHECKPOINT_INVALID. */
export function invalidCheckpoint(folder: string, reason: string, cause?: unknown): EverturnError {
  return new EverturnError("CHECKPOINT_INVALID", { folder, reason }, { cause });
}
