import { expect, test } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { checkModelWeights, modelWeightShapes } from "../../../../src/engine/models/weights/model-weights.ts";
import {
  lazyRandomWeights,
  randomModelWeights,
} from "../../../../src/engine/models/weights/random-weights.ts";

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

test("made when their turn comes they are the same, and others have their turns while a large one is made", async () => {
  const large = { ...config, vocab_size: 60_001 }; // of 3.8 million numbers, in four chunks
  const weights = randomModelWeights(large, 1);
  const lazy = lazyRandomWeights(large, 1);
  expect([...lazy.keys()]).toEqual([...weights.keys()]);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  for (const [name, tensor] of lazy) {
    const { shape, data } = await tensor.load();
    expect(shape).toEqual(tensor.shape);
    expect(Buffer.compare(Buffer.from(data.buffer), Buffer.from(weights.get(name)!.data.buffer))).toBe(0);
  }
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});
