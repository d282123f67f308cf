import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshAdapter } from "../../../../src/engine/learning/lora.ts";
import { readModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import { exportModel } from "../../../../src/engine/models/policy/export-model.ts";
import { importModel } from "../../../../src/engine/models/policy/import-model.ts";
import { readAdapter } from "../../../../src/engine/models/weights/adapter-folder.ts";
import { readWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import { halfValues } from "../../../../src/engine/models/weights/float-types.ts";
import { loadAll } from "../../../../src/engine/models/weights/lazy-tensor.ts";
import { mergeAdapter } from "../../../../src/engine/models/weights/merge-adapter.ts";
import { writeAdapterPolicyFolder } from "../../../../src/engine/models/weights/policy-folder.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const policy = join(import.meta.dirname, "../sampling/fixtures/policy");
const work = temporaryFolder();
const weights = await readWeights(policy);
const plain = { dtype: "F32", merge: false } as const;

/** An adapter of the policy, as training saves one. */
async function adapterFolder(name: string, base: string): Promise<string> {
  const folder = join(work, name);
  const settings = { rank: 2, alpha: 4, targets: ["q_proj", "up_proj"] };
  const tensors = freshAdapter(await readModelConfig(join(policy, "config.json")), settings, 1);
  for (const [key, { data }] of tensors) if (key.includes("lora_B")) data.fill(0.25);
  await writeAdapterPolicyFolder(folder, policy, { ...settings, base }, tensors);
  return folder;
}

test("a policy is written as float32, or rounded to float16 and bfloat16", async () => {
  await exportModel(policy, join(work, "whole"), plain);
  expect(await readWeights(join(work, "whole"))).toEqual(weights);
  expect((await readdir(join(work, "whole"))).sort()).toEqual((await readdir(policy)).sort());
  await exportModel(policy, join(work, "half"), { ...plain, dtype: "F16" });
  for (const { data } of (await readWeights(join(work, "half"))).values()) {
    expect(data.every((value) => halfValues.includes(value))).toBe(true);
  }
  await exportModel(policy, join(work, "brain"), { ...plain, dtype: "BF16" });
  const config = JSON.parse(await readFile(join(work, "brain", "config.json"), "utf8"));
  expect(config.torch_dtype).toBe("bfloat16");
});

test("a policy that is written as GGUF and imported is the same", async () => {
  const file = join(work, "policy.gguf");
  await exportModel(policy, file, plain);
  await importModel(file, join(work, "again"));
  expect(await readWeights(join(work, "again"))).toEqual(weights);
  const config = await readModelConfig(join(policy, "config.json"));
  const read = await readModelConfig(join(work, "again", "config.json"));
  expect(read).toEqual({ ...config, initializer_range: read.initializer_range });
});

test("an adapter is written as PEFT's files, or merged into its base", async () => {
  const folder = await adapterFolder("adapter", policy);
  await exportModel(folder, join(work, "files"), plain);
  const adapter = await readAdapter(folder);
  expect(await readAdapter(join(work, "files"))).toEqual(adapter);
  expect(await readdir(join(work, "files"))).not.toContain("model.safetensors");
  await exportModel(folder, join(work, "merged"), { ...plain, merge: true });
  expect(await readWeights(join(work, "merged"))).toEqual(await loadAll(mergeAdapter(weights, adapter)));
  expect(await readdir(join(work, "merged"))).not.toContain("adapter_config.json");
  const gguf = join(work, "merged.gguf");
  await expect(exportModel(folder, gguf, plain)).rejects.toMatchObject({ code: "ADAPTER_NOT_MERGED" });
  await exportModel(folder, gguf, { ...plain, merge: true });
  await importModel(gguf, join(work, "merged-again"));
  expect(await readWeights(join(work, "merged-again"))).toEqual(
    await loadAll(mergeAdapter(weights, adapter)),
  );
});

test("an adapter's base is found beside it, or where --base says", async () => {
  await exportModel(policy, join(work, "v0000"), plain);
  const beside = await adapterFolder("v0001", "../v0000");
  await exportModel(beside, join(work, "merged-beside"), { ...plain, merge: true });
  const lost = await adapterFolder("lost", "someone/else");
  const merging = exportModel(lost, join(work, "merged-lost"), { ...plain, merge: true });
  await expect(merging).rejects.toThrow(
    'base_model_name_or_path "someone/else" is not a folder on this machine',
  );
  await exportModel(lost, join(work, "merged-given"), { ...plain, merge: true, base: policy });
  const [first, second] = await Promise.all(
    ["beside", "given"].map((name) => readWeights(join(work, `merged-${name}`))),
  );
  expect(first).toEqual(second);
});
