import { expect, test } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";
import { modelFolder } from "./policy-folders.ts";
import { models, open, promptOf, roundedBy, shape, staysSame } from "./same-turns.ts";

/** The other models are in the slow test of this name. */
const some = models.filter(([name]) => ["grouped heads", "a window over heads of 16"].includes(name));

test.each(some)("%s: turns are the same alone, crowded, and after a crash", async (_, config) => {
  await staysSame(config, await modelFolder(config, randomModelWeights(config, 3)), 2);
});

test("so they are with a base in int8 and activations in int8", async () => {
  const config = modelConfig({ ...shape, num_key_value_heads: 2, head_dim: 16, intermediate_size: 96 });
  await staysSame(config, await quantizedFolder(config, "int8"), 2, { activations: "int8" });
});

test("with keys and values of 8 bits, a sequence fits where a part of it did", async () => {
  const config = modelConfig({ ...shape, num_key_value_heads: 2, head_dim: 64 });
  const folder = await modelFolder(config, randomModelWeights(config, 3));
  const [prompt, maxTokens] = [promptOf(15), 100];
  const keyValueBytes = 320 * 2 * 2 * 2 * 64 * 4; // of 320 positions, unrounded
  const whole = await open(config, folder, 1, { keyValueBytes });
  const rounded = await open(config, folder, 1, { keyValueBytes, roundedBy });
  const key = { seed: 1, trajectory: "t", turn: 0 };
  const request = { tokens: prompt, version: 0, sampling: { temperature: 1, maxTokens }, key };
  await expect(whole.generate(request)).rejects.toMatchObject({ code: "KEY_VALUE_MEMORY_TOO_SMALL" });
  expect((await rounded.generate(request)).tokens).toHaveLength(maxTokens);
});

test("a prompt that ends one token after what is kept is the same read at once and from what was kept", async () => {
  const wide = { ...shape, hidden_size: 128, num_attention_heads: 4, num_key_value_heads: 2 };
  const config = modelConfig({ ...wide, head_dim: 32, intermediate_size: 352 });
  const folder = await modelFolder(config, randomModelWeights(config, 3));
  for (const length of [17, 49, 65, 129]) {
    for (let seed = 0; seed < 4; seed++) {
      const sampler = await open(config, folder, 1);
      const tokens = Array.from({ length }, (_, at) => (7 * at * at + 13 * at + 29 * seed) % 50);
      const sampling = { temperature: 1, maxTokens: 3 };
      const sample = () =>
        sampler.generate({ tokens, version: 0, sampling, key: { seed, trajectory: "t", turn: 0 } });
      const first = await sample();
      if (process.arch === "x64") expect(await sample()).toEqual(first);
    }
  }
});
