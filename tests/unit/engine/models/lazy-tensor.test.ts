import { readdirSync, statSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWeights, readWeights, writeWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import type { LazyTensor, Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const work = temporaryFolder();

const tensors = new Map(
  ["a", "b", "c", "d"].map((name, at): [string, Tensor] => [
    name,
    { shape: [2, 300], data: Float32Array.from({ length: 600 }, (_, index) => at + index) },
  ]),
);

/** Bytes in the files of a folder. */
const bytesIn = (folder: string) =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

test.each([undefined, 5000])(
  "tensors are loaded when those before them lie in the file (shards of %s bytes)",
  async (shardBytes) => {
    const folder = join(work, `written-${shardBytes}`);
    await mkdir(folder);
    const written: number[] = [];
    const lazies = [...tensors].map(([name, tensor]): [string, LazyTensor] => {
      const load = async () => {
        written.push(bytesIn(folder));
        return tensor;
      };
      return [name, { shape: tensor.shape, load }];
    });
    await writeWeights(folder, new Map(lazies), shardBytes === undefined ? {} : { shardBytes });
    expect(written).toHaveLength(4);
    for (const [at, bytes] of written.entries()) expect(bytes).toBeGreaterThan(at * 2400);
    expect(await readWeights(folder)).toEqual(tensors);
  },
);

test("weights are read when they are loaded, each time anew", async () => {
  const folder = join(work, "opened");
  await mkdir(folder);
  await writeWeights(folder, tensors);
  const opened = await openWeights(folder);
  await writeWeights(
    folder,
    new Map(
      [...tensors].map(([name, tensor]) => [name, { ...tensor, data: tensor.data.map((one) => -one) }]),
    ),
  );
  expect((await opened.get("c")!.load()).data[7]).toBe(-9);
});

test("weights whose file is gone meanwhile are refused by its name", async () => {
  const folder = join(work, "gone");
  await mkdir(folder);
  await writeWeights(folder, tensors);
  const opened = await openWeights(folder);
  await rm(folder, { recursive: true });
  await expect(opened.get("b")!.load()).rejects.toMatchObject({
    code: "SAFETENSORS_INVALID",
    params: {
      path: join(folder, "model.safetensors"),
      reason: expect.stringContaining("tensor b: Error: ENOENT"),
    },
  });
});

test("a tensor that is not of its shape leaves no file", async () => {
  const folder = join(work, "refused");
  await mkdir(folder);
  const wrong = { shape: [2, 3], load: async () => ({ shape: [2, 2], data: new Float32Array(4) }) };
  await expect(writeWeights(folder, new Map([["x", wrong]]))).rejects.toMatchObject({
    code: "SAFETENSORS_INVALID",
    params: { reason: "tensor x has 4 values, its shape [2,3] needs 6" },
  });
  expect(await readdir(folder)).toEqual([]);
});
