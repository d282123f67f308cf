import { readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { readWeights, writeWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const index = join(folder, "model.safetensors.index.json");
const first = "model-00001-of-00003.safetensors";

const weights = new Map<string, Tensor>(
  ["a", "b", "c", "d"].map((name, at) => [
    name,
    { shape: [at + 1, 4], data: Float32Array.from({ length: 4 * (at + 1) }, (_, i) => at + i / 16) },
  ]),
);

beforeEach(async () => {
  for (const name of await readdir(folder)) await rm(join(folder, name));
});

test("weights below the limit are one file", async () => {
  await writeWeights(folder, weights);
  expect(await readdir(folder)).toEqual(["model.safetensors"]);
  expect(await readWeights(folder)).toEqual(weights);
});

test.each(["F32", "F16", "BF16"] as const)(
  "%s weights above the limit are shards with an index",
  async (dtype) => {
    await writeWeights(folder, weights, { dtype, shardBytes: dtype === "F32" ? 48 : 24 });
    const { metadata, weight_map } = JSON.parse(await readFile(index, "utf8"));
    expect(metadata).toEqual({ total_parameters: 40, total_size: dtype === "F32" ? 160 : 80 });
    expect(weight_map).toEqual({
      a: first,
      b: first,
      c: "model-00002-of-00003.safetensors",
      d: "model-00003-of-00003.safetensors",
    });
    expect(await readWeights(folder)).toEqual(weights);
  },
);

test.each<[string, () => Promise<unknown>]>([
  ["there is neither model.safetensors nor", () => rm(index)],
  ["names the shard model-00001-of-00003.safetensors, which is missing", () => rm(join(folder, first))],
  ["index.json is not JSON", () => writeFile(index, "{")],
  ["index.json has no weight_map", () => writeFile(index, "[]")],
  ['puts the tensor a into "../a"', () => writeFile(index, '{"weight_map": {"a": "../a"}}')],
  ["lacks the tensor e that", () => writeFile(index, `{"weight_map": {"e": "${first}"}}`)],
  ["tensor b runs past the end of the file", () => truncate(join(folder, first), 200)],
])("refuses shards when %s", async (reason, damage) => {
  await writeWeights(folder, weights, { shardBytes: 48 });
  await damage();
  await expect(readWeights(folder)).rejects.toThrow(reason);
});
