import { expect, test } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { formatModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import { modelOutline } from "../../../../src/engine/models/policy/model-outline.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { quantizedBytes } from "../../../../src/engine/models/weights/weight-sources.ts";
import { forecastSampling } from "../../../../src/engine/sampling/forecast-sampling.ts";
import { createSampler } from "../../../../src/engine/sampling/sampler.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";
import { modelFolder } from "./policy-folders.ts";

const config = modelConfig({
  vocab_size: 512,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 128,
  max_position_embeddings: 4096,
});
const source = await modelFolder(config, randomModelWeights(config, 1));
const noTokens = { bos_token_id: null, eos_token_id: 2, pad_token_id: 0 };
const asked = { slots: 8, keyValues: "float32", activations: "float32" } as const;

test.each([
  ["float32", undefined, {}],
  ["8 bits", "int8", {}],
  ["8 bits, rows of 8 bits", "int8", { activations: "int8" }],
  ["4 bits", "int4", { keyValueBytes: 2 ** 20 }],
] as const)("what is forecast of %s is just what a sampler wants", async (_, quantization, changes) => {
  const outline = await modelOutline(source, quantization);
  if (outline === undefined) throw new Error("it is there");
  const { weights, keyValues } = forecastSampling(outline, { ...asked, ...changes });
  const folder = quantization === undefined ? source : await quantizedFolder(config, quantization);
  if (quantization) {
    const copies = quantization === "int8" && !("activations" in changes) ? 2.25 : 1.75;
    expect(weights).toBe(Math.ceil(copies * (await quantizedBytes(folder))!));
  }
  const load = async (available: number) => {
    const sampler = createSampler({
      config,
      slots: 8,
      stopTokens: [2],
      decode: () => "",
      available: () => available,
      ...changes,
    });
    try {
      await sampler.load(0, folder);
    } finally {
      await sampler.close();
    }
  };
  await load(weights + keyValues.least);
  await expect(load(weights + keyValues.least - 1)).rejects.toMatchObject({ code: "SAMPLING_MEMORY_SHORT" });
  expect(keyValues.most).toBeGreaterThan(keyValues.least);
});

test("keys and values of 8 bits take a quarter", async () => {
  const outline = { config: formatModelConfig(config, noTokens), matrices: "float32" } as const;
  const [usual, small] = (["float32", "int8"] as const).map((keyValues) =>
    forecastSampling(outline, { ...asked, keyValues }),
  );
  expect(small?.keyValues.most).toBe(usual!.keyValues.most / 4);
});
