import { expect, test } from "vitest";
import { modelConfig } from "../../../src/models/model-config.ts";
import { formatModelConfig, parseModelConfig } from "../../../src/models/model-config-file.ts";
import {
  checkModelWeights,
  modelWeightShapes,
  randomModelWeights,
} from "../../../src/models/model-weights.ts";

const config = modelConfig({
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
  const weights = randomModelWeights(config, 1);
  checkModelWeights(config, weights);
  expect([...weights.keys()]).toEqual([...modelWeightShapes(config).keys()]);
  const spread = (name: string) => deviation(weights.get(name)!.data);
  expect(spread("model.embed_tokens.weight")).toBeCloseTo(0.02, 3);
  expect(spread("model.layers.1.mlp.down_proj.weight")).toBeCloseTo(0.01, 3);
  expect(new Set(weights.get("model.norm.weight")!.data)).toEqual(new Set([1]));
  expect(randomModelWeights(config, 1)).toEqual(weights);
  expect(randomModelWeights(config, 2)).not.toEqual(weights);
});

test("a configuration survives writing and reading", () => {
  const text = formatModelConfig(config, { bos_token_id: null, eos_token_id: 2, pad_token_id: 0 });
  expect(parseModelConfig(text, "config.json")).toEqual(config);
});

test.each([
  ["not JSON", "config.json is not JSON"],
  ["[]", "config.json is not a JSON object"],
  ['{"model_type": "gpt2"}', 'model_type is "gpt2"; known are llama, mistral, qwen2, qwen3, gemma'],
  ['{"model_type": "llama", "hidden_act": "relu"}', 'hidden_act "relu" is not supported'],
  ['{"model_type": "llama", "quantization_config": {}}', "quantization_config {} is not supported"],
  ['{"model_type": "llama"}', "hidden_size must be a number"],
  [
    JSON.stringify({ ...config, rope_scaling: { rope_type: "dynamic", factor: 2 } }),
    'rope_parameters.rope_type "dynamic" is not supported',
  ],
  [JSON.stringify({ ...config, layer_types: ["linear"] }), 'layer_types holds "linear"'],
])("the configuration %s is refused", (text, message) => {
  expect(() => parseModelConfig(text, "config.json")).toThrow(message);
});

test("sizes that don't fit are refused", () => {
  expect(() => modelConfig({ ...config, num_key_value_heads: 3 })).toThrow("(3) doesn't divide 4 heads");
  expect(() => modelConfig({ ...config, head_dim: 15 })).toThrow("must be an even number");
  expect(() => modelConfig({ ...config, vocab_size: 0 })).toThrow("vocab_size is 0, but must be above 0");
  const weights = randomModelWeights(config, 1);
  weights.delete("lm_head.weight");
  expect(() => checkModelWeights(config, weights)).toThrow(
    "lm_head.weight should be [100, 64], but is missing",
  );
});
