import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseModelConfig, readModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import { importModel } from "../../../../src/engine/models/policy/import-model.ts";
import { modelOutline } from "../../../../src/engine/models/policy/model-outline.ts";
import { modelPolicy } from "../../../../src/engine/models/policy/model-policy.ts";
import { readWeights, writeWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const gguf = join(import.meta.dirname, "../../../fixtures/gguf");
const fixture = join(import.meta.dirname, "../sampling/fixtures/policy");
const work = temporaryFolder();

test.each(["llama3", "qwen3moe", "gemma3", "phi3"])(
  "a GGUF file's outline is what its import has, but for rotations: %s",
  async (model) => {
    const [file, folder] = [join(gguf, `${model}.gguf`), join(work, model)];
    await importModel(file, folder);
    const outline = await modelOutline(file);
    expect(outline?.matrices).toBe("float32");
    const { rope_scaling: _, ...imported } = await readModelConfig(join(folder, "config.json"));
    expect(parseModelConfig(outline?.config ?? "", file)).toMatchObject(imported); // factors of rotations are among the tensors
    expect((await modelOutline(file, "int4"))?.matrices).toBe("int4");
    const quantized = join(work, `${model}-int8`);
    await importModel(file, quantized, "int8");
    expect((await modelOutline(quantized))?.matrices).toBe("int8");
  },
);

test("a folder's outline says what its matrices are stored as", async () => {
  const folder = join(work, "half");
  await mkdir(folder);
  await writeWeights(folder, await readWeights(fixture), { dtype: "BF16" });
  await writeFile(join(folder, "config.json"), (await modelOutline(fixture))?.config ?? "");
  expect((await modelOutline(fixture))?.matrices).toBe("float32");
  expect((await modelOutline(folder))?.matrices).toBe("bfloat16");
  expect((await modelOutline(folder, "int8"))?.matrices).toBe("int8");
  expect(await modelOutline(join(work, "absent"))).toBeUndefined();
});

test("a policy with random weights has the outline of its architecture and its tokenizer's vocabulary", async () => {
  const architecture = {
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    intermediate_size: 64,
    max_position_embeddings: 128,
  };
  const outline = await modelPolicy.outline({ tokenizer: fixture, architecture });
  const { vocab_size } = await readModelConfig(join(fixture, "config.json"));
  expect(parseModelConfig(outline?.config ?? "", "outline")).toMatchObject({ ...architecture, vocab_size });
});
