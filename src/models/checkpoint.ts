import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isObject } from "../contracts/json.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { writeWhole } from "../files/whole-files.ts";
import { type FloatType, floatBytes } from "./float-types.ts";
import { readSafetensors, type Tensor, writeSafetensors } from "./safetensors.ts";

const wholeFile = "model.safetensors";
const indexFile = "model.safetensors.index.json";

/** Whether a file of a model's folder holds weights, or says which files do. */
export function isWeightsFile(name: string): boolean {
  return /^model(-\d+-of-\d+)?\.safetensors$/.test(name) || name === indexFile;
}

/**
 * Reads the weights of a model's folder, widened to float32: model.safetensors, or the shards that
 * model.safetensors.index.json names. Throws CHECKPOINT_INVALID or SAFETENSORS_INVALID, which name file and tensor.
 */
export async function readWeights(folder: string): Promise<Map<string, Tensor>> {
  if (existsSync(join(folder, wholeFile))) return readSafetensors(join(folder, wholeFile));
  if (!existsSync(join(folder, indexFile))) {
    throw invalid(folder, `there is neither ${wholeFile} nor ${indexFile}`);
  }
  const places = await readIndex(folder);
  const weights = new Map<string, Tensor>();
  for (const shard of new Set(places.values())) {
    if (!existsSync(join(folder, shard))) {
      throw invalid(folder, `${indexFile} names the shard ${shard}, which is missing`);
    }
    for (const [name, tensor] of await readSafetensors(join(folder, shard))) {
      if (places.get(name) === shard) weights.set(name, tensor);
    }
  }
  for (const [name, shard] of places) {
    if (!weights.has(name))
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
  weights: ReadonlyMap<string, Tensor>,
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
  const values = [...weights.values()].reduce((total, { data }) => total + data.length, 0);
  const index = {
    metadata: { total_parameters: values, total_size: values * floatBytes[dtype] },
    weight_map: Object.fromEntries(placed),
  };
  await writeWhole(join(folder, indexFile), `${JSON.stringify(index, null, 2)}\n`);
}

function splitIntoShards(
  weights: ReadonlyMap<string, Tensor>,
  limit: number,
  width: number,
): Map<string, Tensor>[] {
  const shards: Map<string, Tensor>[] = [];
  let filled = Number.POSITIVE_INFINITY;
  for (const name of [...weights.keys()].sort()) {
    const tensor = weights.get(name)!;
    const bytes = tensor.data.length * width;
    if (filled + bytes > limit) {
      shards.push(new Map());
      filled = 0;
    }
    shards.at(-1)?.set(name, tensor);
    filled += bytes;
  }
  return shards;
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
