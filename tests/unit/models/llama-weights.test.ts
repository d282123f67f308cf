import { expect, test } from "vitest";
import { formatLlamaConfig, llamaConfig, parseLlamaConfig } from "../../../src/models/llama-config.ts";
import {
  checkLlamaWeights,
  llamaWeightShapes,
  randomLlamaWeights,
} from "../../../src/models/llama-weights.ts";

const config = llamaConfig({
  vocab_size: 100,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 96,
  max_position_embeddings: 128,
});

function deviation(numbers: Float32Array): number {
  return Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0) / numbers.length);
}

test("random weights have the asked spread, smaller towards the residual stream, and depend on the seed", () => {
  const weights = randomLlamaWeights(config, 1);
  checkLlamaWeights(config, weights);
  expect([...weights.keys()]).toEqual([...llamaWeightShapes(config).keys()]);
  const spread = (name: string) => deviation(weights.get(name)!.data);
  expect(spread("model.embed_tokens.weight")).toBeCloseTo(0.02, 3);
  expect(spread("model.layers.1.mlp.down_proj.weight")).toBeCloseTo(0.01, 3);
  expect(new Set(weights.get("model.norm.weight")!.data)).toEqual(new Set([1]));
  expect(randomLlamaWeights(config, 1)).toEqual(weights);
  expect(randomLlamaWeights(config, 2)).not.toEqual(weights);
});

test("a configuration survives writing and reading", () => {
  const text = formatLlamaConfig(config, { bos_token_id: null, eos_token_id: 2, pad_token_id: 0 });
  expect(parseLlamaConfig(text, "config.json")).toEqual(config);
});

test.each([
  ["not JSON", "config.json is not JSON"],
  ["[]", "config.json is not a JSON object"],
  ['{"model_type": "gpt2"}', 'model_type is "gpt2", not "llama"'],
  ['{"model_type": "llama", "attention_bias": true}', "biases are not supported"],
  [
    '{"model_type": "llama", "rope_scaling": {"rope_type": "llama3"}}',
    'rope scaling "llama3" is not supported',
  ],
  ['{"model_type": "llama"}', "hidden_size must be a number"],
])("the configuration %s is refused", (text, message) => {
  expect(() => parseLlamaConfig(text, "config.json")).toThrow(message);
});

test("sizes that don't fit are refused", () => {
  expect(() => llamaConfig({ ...config, num_key_value_heads: 3 })).toThrow("(3) doesn't divide 4 heads");
  expect(() => llamaConfig({ ...config, head_dim: 15 })).toThrow("must be an even number");
  expect(() => llamaConfig({ ...config, vocab_size: 0 })).toThrow("vocab_size is 0, but must be above 0");
  const weights = randomLlamaWeights(config, 1);
  weights.delete("lm_head.weight");
  expect(() => checkLlamaWeights(config, weights)).toThrow(
    "lm_head.weight should be [100, 64], but is missing",
  );
});
