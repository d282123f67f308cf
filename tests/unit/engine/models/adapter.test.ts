import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readAdapter, writeAdapter } from "../../../../src/engine/models/weights/adapter-folder.ts";
import { mergeAdapter } from "../../../../src/engine/models/weights/merge-adapter.ts";
import {
  loaded,
  readSafetensors,
  type Tensor,
  writeSafetensors,
} from "../../../../src/engine/models/weights/safetensors.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { relativeError } from "../../torch-fixtures.ts";

const fixtures = join(import.meta.dirname, "../../../fixtures/peft");
const work = temporaryFolder();
const base = await readSafetensors(join(fixtures, "base.safetensors"));

test("reads an adapter that PEFT wrote", async () => {
  const { config, tensors } = await readAdapter(fixtures);
  expect(config).toEqual({ rank: 4, alpha: 6, targets: ["down_proj", "q_proj", "v_proj"], base: "" });
  expect(tensors.size).toBe(2 * 3 * 2);
  expect(tensors.get("model.layers.1.self_attn.v_proj.lora_B.weight")?.shape).toEqual([8, 4]);
});

test("merged, it gives the weights that PEFT gives", async () => {
  const merged = mergeAdapter(base, await readAdapter(fixtures));
  const expected = await readSafetensors(join(fixtures, "merged.safetensors"));
  expect([...merged.keys()]).toEqual([...expected.keys()]);
  for (const [name, { data }] of expected) {
    const own = await loaded(merged.get(name)!);
    expect(relativeError(own.data, data)).toBeLessThan(1e-6);
  }
  const changed = [...merged].filter(([name, tensor]) => tensor !== base.get(name));
  expect(changed.length).toBe(2 * 3);
});

test("reads back what it wrote, under PEFT's names", async () => {
  const folder = join(work, "written");
  const { tensors } = await readAdapter(fixtures);
  const config = { rank: 4, alpha: 6, targets: ["down_proj", "q_proj", "v_proj"], base: "../v0000" };
  await writeAdapter(folder, config, tensors);
  expect(await readAdapter(folder)).toEqual({ config, tensors });
  const stored = await readSafetensors(join(folder, "adapter_model.safetensors"));
  const theirs = await readSafetensors(join(fixtures, "adapter_model.safetensors"));
  expect(stored).toEqual(theirs);
});

test.each([
  ["peft_type is", { peft_type: "IA3" }],
  ["use_dora true is not supported", { use_dora: true }],
  ...["pissa", "pissa_niter_16", "olora", "loftq", "corda", "lora_ga"].map(
    (start): [string, Record<string, unknown>] => [
      `init_lora_weights "${start}" changes the base model as well`,
      { init_lora_weights: start },
    ],
  ),
  ["use_rslora true is not supported", { use_rslora: true }],
  ['bias "all" is not supported', { bias: "all" }],
  ['modules_to_save ["lm_head"] is not supported', { modules_to_save: ["lm_head"] }],
  ['rank_pattern {"q_proj":8} is not supported', { rank_pattern: { q_proj: 8 } }],
  ["some_later_option 3 is not supported", { some_later_option: 3 }],
  ["r must be a whole number", { r: 0 }],
  ["lora_alpha must be a number", { lora_alpha: "6" }],
  ["of shape [4, 24] is not of rank 2", { r: 2 }],
])("refuses an adapter: %s", async (reason, change) => {
  const folder = join(work, "changed");
  await cp(fixtures, folder, { recursive: true });
  const json = JSON.parse(await readFile(join(fixtures, "adapter_config.json"), "utf8"));
  await writeFile(join(folder, "adapter_config.json"), JSON.stringify({ ...json, ...change }));
  await expect(readAdapter(folder)).rejects.toThrow(reason);
});

test.each<[string, [string, Tensor][]]>([
  ["it has no matrices", []],
  ["is not a matrix of a LoRA adapter", [["base_model.model.lm_head.lora_embedding_A", matrix(4, 2)]]],
  ["has no matching lm_head.lora_B.weight", [["base_model.model.lm_head.lora_A.weight", matrix(4, 2)]]],
])("refuses an adapter whose file says: %s", async (reason, tensors) => {
  const folder = join(work, "tensors");
  await cp(fixtures, folder, { recursive: true });
  await writeSafetensors(join(folder, "adapter_model.safetensors"), new Map(tensors));
  await expect(readAdapter(folder)).rejects.toThrow(reason);
});

test("refuses a folder without an adapter, and a base that lacks what it changes", async () => {
  await expect(readAdapter(work)).rejects.toThrow("adapter_config.json can't be read");
  const lacking = new Map(base);
  lacking.delete("model.layers.0.mlp.down_proj.weight");
  const adapter = await readAdapter(fixtures);
  expect(() => mergeAdapter(lacking, adapter)).toThrow(
    "down_proj.weight, which should be [16, 24], but is missing",
  );
});

function matrix(rows: number, columns: number): Tensor {
  return { shape: [rows, columns], data: new Float32Array(rows * columns) };
}
