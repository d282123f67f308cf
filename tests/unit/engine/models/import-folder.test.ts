import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { readModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import { importModel } from "../../../../src/engine/models/policy/import-model.ts";
import { readWeights, writeWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import type { Tensor } from "../../../../src/engine/models/weights/safetensors.ts";
import { storedType } from "../../../../src/engine/models/weights/weight-sources.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const fixture = join(import.meta.dirname, "../sampling/fixtures/policy");
const work = temporaryFolder();
const source = join(work, "source");
const target = join(work, "target");
const weights = await readWeights(fixture);

beforeEach(async () => {
  for (const folder of [source, target]) await rm(folder, { recursive: true, force: true });
  await cp(fixture, source, { recursive: true });
});

/** Changes keys of the source's config.json. */
async function configure(change: Record<string, unknown>): Promise<void> {
  const json = JSON.parse(await readFile(join(fixture, "config.json"), "utf8"));
  await writeFile(join(source, "config.json"), JSON.stringify({ ...json, ...change }));
}

async function replaceWeights(changed: Map<string, Tensor>, options = {}): Promise<void> {
  await rm(join(source, "model.safetensors"));
  await writeWeights(source, changed, options);
}

test("a folder of Hugging Face's files becomes a policy whose weights stay as narrow as they were", async () => {
  await replaceWeights(weights, { dtype: "BF16", shardBytes: 20_000 });
  await configure({ torch_dtype: "bfloat16", eos_token_id: [2, 0] });
  await importModel(source, target);
  expect(await readWeights(target)).toEqual(await readWeights(source));
  expect(await storedType(target)).toBe("BF16");
  expect(await readModelConfig(join(target, "config.json"))).toEqual(
    await readModelConfig(join(source, "config.json")),
  );
  const written = JSON.parse(await readFile(join(target, "config.json"), "utf8"));
  expect(written).toMatchObject({
    torch_dtype: "float32",
    eos_token_id: [2, 0],
    architectures: ["LlamaForCausalLM"],
  });
  for (const name of ["tokenizer.json", "tokenizer_config.json"]) {
    expect(await readFile(join(target, name), "utf8")).toBe(await readFile(join(fixture, name), "utf8"));
  }
});

test("all ends that config.json and generation_config.json name are kept", async () => {
  await configure({ eos_token_id: 2 });
  await writeFile(join(source, "generation_config.json"), JSON.stringify({ eos_token_id: [0, 2, 5] }));
  await importModel(source, target);
  for (const name of ["config.json", "generation_config.json"]) {
    const { eos_token_id } = JSON.parse(await readFile(join(target, name), "utf8"));
    expect([name, eos_token_id]).toEqual([name, [2, 0, 5]]);
  }
});

describe("tied embeddings", () => {
  const embeddings = weights.get("model.embed_tokens.weight")!;
  const isTied = { tie_word_embeddings: true };

  test("a head stored without the embeddings is both", async () => {
    await configure(isTied);
    const { "model.embed_tokens.weight": moved, ...others } = Object.fromEntries(weights);
    await replaceWeights(new Map(Object.entries({ ...others, "lm_head.weight": moved! })));
    await importModel(source, target);
    expect(await readWeights(target)).toEqual(weights);
  });

  test("a head that differs from the embeddings is refused", async () => {
    await configure(isTied);
    const data = embeddings.data.slice();
    data[7]! += 1e-3;
    await replaceWeights(new Map(weights).set("lm_head.weight", { shape: embeddings.shape, data }));
    await expect(importModel(source, target)).rejects.toThrow(
      "lm_head.weight differs from model.embed_tokens.weight, although",
    );
  });

  test("both are kept where the configuration does not tie them", async () => {
    await configure({ tie_word_embeddings: false });
    const data = embeddings.data.map((value) => -value);
    const both = new Map(weights).set("lm_head.weight", { shape: embeddings.shape, data });
    await replaceWeights(both);
    await importModel(source, target);
    expect((await readWeights(target)).get("lm_head.weight")).toEqual(both.get("lm_head.weight"));
  });
});

test("tensors that change nothing are left out, others refused", async () => {
  const head = weights.get("model.embed_tokens.weight")!;
  const frequencies = { shape: [2], data: new Float32Array(2) };
  const idle = new Map(weights)
    .set("lm_head.weight", head)
    .set("model.layers.0.self_attn.rotary_emb.inv_freq", frequencies);
  await replaceWeights(idle);
  await importModel(source, target);
  expect([...(await readWeights(target)).keys()].sort()).toEqual([...weights.keys()].sort());
  await replaceWeights(new Map(weights).set("model.layers.0.self_attn.q_proj.bias", frequencies));
  await expect(importModel(source, target)).rejects.toThrow(
    "there is a tensor model.layers.0.self_attn.q_proj.bias",
  );
});

test.each<[string, () => Promise<unknown>]>([
  ["tokenizer.json is missing", () => rm(join(source, "tokenizer.json"))],
  ["tokenizer.json is not a JSON object", () => writeFile(join(source, "tokenizer.json"), "null")],
  [
    "tokenizer_config.json is not a JSON object",
    () => writeFile(join(source, "tokenizer_config.json"), "[]"),
  ],
  ["tokenizer.json is refused", () => writeFile(join(source, "tokenizer.json"), '{"model":null}')],
  ["num_hidden_layers is 1000000000, but must be", () => configure({ num_hidden_layers: 1e9 })],
  ["num_hidden_layers is 1.5, but must be", () => configure({ num_hidden_layers: 1.5 })],
  ["vocab_size is 1e+300, but must be", () => configure({ vocab_size: 1e300 })],
  ["config.json can't be read", () => rm(join(source, "config.json"))],
  ["there is neither model.safetensors nor", () => rm(join(source, "model.safetensors"))],
  ['eos_token_id holds "2", which is not an id', () => configure({ eos_token_id: "2" })],
  [
    "eos_token_id is missing, and generation_config.json has none either",
    async () => {
      await configure({ eos_token_id: null });
      await rm(join(source, "generation_config.json"));
    },
  ],
  ['model_type is "gpt2"', () => configure({ model_type: "gpt2" })],
  [
    "layers.2.input_layernorm.weight should be [32], but is missing",
    () => configure({ num_hidden_layers: 3 }),
  ],
])("refuses a folder when %s", async (reason, damage) => {
  await damage();
  await expect(importModel(source, target)).rejects.toThrow(reason);
});

test("a name that is neither there nor known is refused with those that are", async () => {
  const importing = importModel(join(work, "nowhere"), target);
  await expect(importing).rejects.toThrow("or one of the built-in names: smollm2-135m-instruct.");
});
