import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  formatModelConfig,
  parseModelConfig,
  readModelConfig,
} from "../../../../src/engine/models/config/model-config-file.ts";
import { exportModel } from "../../../../src/engine/models/policy/export-model.ts";
import { importFolder } from "../../../../src/engine/models/policy/import-folder.ts";
import { readVisionWeights, readWeights } from "../../../../src/engine/models/weights/checkpoint.ts";
import {
  readSafetensors,
  type Tensor,
  writeSafetensors,
} from "../../../../src/engine/models/weights/safetensors.ts";
import { visionWeightShapes } from "../../../../src/engine/models/weights/vision-weights.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { languageTensors, visionFixture, visionModels } from "../../../vision/vision-fixtures.ts";
import { torchFixture } from "../../torch-fixtures.ts";

const tokenizer = join(import.meta.dirname, "../tokens/fixtures/tokenizer");
const processor = "preprocessor_config.json";

test.each(visionModels)("%s: config.json is written as it is read", async (name) => {
  const { config } = await visionFixture(name);
  const tokens = { bos_token_id: null, eos_token_id: 2, pad_token_id: null };
  expect(parseModelConfig(formatModelConfig(config, tokens), name)).toEqual(config);
});

test.each(visionModels)("%s: import and export keep transformers' names and the processor", async (name) => {
  const [source, folder, exported] = [temporaryFolder(), temporaryFolder(), join(temporaryFolder(), "out")];
  const fixture = await visionFixture(name);
  const { json, tensors } = await torchFixture(name, "vision");
  const isWeight = /^(model|visual|lm_head)\./;
  const stored = new Map<string, Tensor>([...tensors].filter(([key]) => isWeight.test(key)));
  if (fixture.config.tie_word_embeddings) stored.delete("lm_head.weight");
  await cp(tokenizer, source, { recursive: true });
  await writeFile(join(source, "config.json"), JSON.stringify({ ...Object(json.config), eos_token_id: 2 }));
  await writeFile(join(source, processor), '{"image_processor_type": "SmolVLMImageProcessor"}');
  await writeSafetensors(join(source, "model.safetensors"), stored);
  await importFolder(source, folder);
  expect(await readWeights(folder)).toEqual(languageTensors(fixture));
  expect([...(await readVisionWeights(folder)).keys()].sort()).toEqual(
    [...visionWeightShapes(fixture.config).keys()].sort(),
  );
  await exportModel(folder, exported, { dtype: "F32", merge: false });
  expect(await readSafetensors(join(exported, "model.safetensors"))).toEqual(
    new Map([...stored].sort(([a], [b]) => (a < b ? -1 : 1))),
  );
  expect(await readModelConfig(join(exported, "config.json"))).toEqual(fixture.config);
  await cp(join(exported, processor), join(source, "copy.json")); // it is there
  const gguf = exportModel(folder, join(source, "out.gguf"), { dtype: "F32", merge: false });
  await expect(gguf).rejects.toThrow("vision-language model");
});
