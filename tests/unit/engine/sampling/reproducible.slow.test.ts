import { test } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";
import { modelFolder } from "./policy-folders.ts";
import { models, roundedBy, shape, staysSame } from "./same-turns.ts";

test.each(models)("%s: turns are the same alone, crowded, and after a crash", async (name, config) => {
  const folder = await modelFolder(config, randomModelWeights(config, 3));
  await staysSame(config, folder, name === "grouped heads" ? 5 : 2);
});

test.each([
  ["int8", "float32"],
  ["int8", "int8"],
  ["int4", "int8"],
] as const)("so they are with a base in %s and activations in %s", async (quantization, activations) => {
  const config = modelConfig({ ...shape, num_key_value_heads: 2, head_dim: 16, intermediate_size: 96 });
  await staysSame(config, await quantizedFolder(config, quantization), 2, { activations });
});

/** A model whose matrices are wide enough to be widened for whole blocks of prompts; queries' and keys' are not all. */
const wide = modelConfig({
  ...shape,
  hidden_size: 256,
  num_hidden_layers: 3,
  num_key_value_heads: 2,
  head_dim: 64,
  intermediate_size: 512,
  initializer_range: 0.1,
});

test.each([
  ["float32", {}],
  ["int8", { roundedBy }],
] as const)(
  "so they are where whole blocks of prompts are read by widened matrices, keys and values in %s",
  async (_, options) => {
    await staysSame(wide, await quantizedFolder(wide, "int8"), 4, options);
  },
);

test.each(models.filter(([name]) => ["a window over heads of 16", "heads of 128"].includes(name)))(
  "%s: so they are with keys and values of 8 bits",
  async (_, config) => {
    const folder = await modelFolder(config, randomModelWeights(config, 3));
    await staysSame(config, folder, 2, { roundedBy });
  },
);
