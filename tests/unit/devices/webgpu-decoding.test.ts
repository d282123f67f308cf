import { beforeAll, expect, test } from "vitest";
import { useSwiftShader } from "../../../src/devices/swiftshader.ts";
import { createCachedDecoder } from "../../../src/models/cached-decoder.ts";
import { modelConfig } from "../../../src/models/model-config.ts";
import { randomModelWeights } from "../../../src/models/model-weights.ts";
import { relativeError } from "../torch-fixtures.ts";

beforeAll(useSwiftShader);

test("a prompt and the token after it give the CPU's logits, keys and values on WebGPU", async () => {
  const config = modelConfig({
    vocab_size: 50,
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 48,
    max_position_embeddings: 64,
    initializer_range: 0.3,
  });
  const weights = randomModelWeights(config, 1);
  const [processor, card] = [
    await createCachedDecoder(config, { tensors: weights }, { threads: 2 }),
    await createCachedDecoder(config, { tensors: weights }, { threads: 2, target: { device: "webgpu" } }),
  ];
  const prompts = {
    tokens: [
      [3, 14, 15, 9, 26],
      [27, 18, 28, 18, 28],
    ],
  };
  const prompt = { expected: await processor.run(prompts), actual: await card.run(prompts) };
  const { keys, values } = prompt.expected;
  const past = { keys, values, capacity: 5, lengths: [5, 5] };
  const after = { tokens: [[4], [5]], past };
  const next = { expected: await processor.run(after), actual: await card.run(after) };
  for (const { expected, actual } of [prompt, next]) {
    expect(relativeError(actual.logits, expected.logits)).toBeLessThan(1e-5);
    for (const layer of [0, 1]) {
      expect(relativeError(actual.keys[layer]!, expected.keys[layer]!)).toBeLessThan(1e-5);
      expect(relativeError(actual.values[layer]!, expected.values[layer]!)).toBeLessThan(1e-5);
    }
  }
  await processor.close();
  await card.close();
});
