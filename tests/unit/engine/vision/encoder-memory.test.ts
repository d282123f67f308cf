import { expect, test } from "vitest";
import type { ModelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { visionWeightShapes } from "../../../../src/engine/models/weights/vision-weights.ts";
import { elementCount } from "../../../../src/engine/onnx/element-count.ts";
import {
  encoderBytes,
  keptBytes,
  trainedEncoderBytes,
} from "../../../../src/engine/vision/encoder-memory.ts";
import { visionFixture } from "../../../vision/vision-fixtures.ts";

const bytesOf = (one: ModelConfig) =>
  [...visionWeightShapes(one).values()].reduce((total, shape) => total + 4 * elementCount(shape), 0);

/** SmolVLM's fixture with five layers instead of two. */
async function twoDepths() {
  const { config, vision } = await visionFixture("smolvlm");
  if (vision.model_type === "qwen2_5_vl") throw new Error("smolvlm has tiles");
  const vision_config = { ...vision.vision_config, num_hidden_layers: 5 };
  return { config, deeper: { ...config, vision: { ...vision, vision_config } } };
}

test("the memory for images is that of weights, a pass, and kept embeddings", async () => {
  const { config, deeper } = await twoDepths();
  // A pass holds one layer at a time, however many there are.
  expect(encoderBytes(deeper) - encoderBytes(config)).toBe(bytesOf(deeper) - bytesOf(config));
  const pass = encoderBytes(config) - bytesOf(config) - keptBytes;
  expect(pass).toBeGreaterThan(4 * 2 * 16 ** 2); // a tile's scores of two heads
  expect(pass).toBeLessThan(4 * 2 * 16 ** 2 * 37 * 10); // of 37 small tiles, not of all that 128 MiB of scores allow
  expect(encoderBytes({ ...config, vision: null })).toBe(0);
});

test("a trained vision part also takes its gradients twice, and each layer's input in a backward pass", async () => {
  const { config, deeper } = await twoDepths();
  const more = trainedEncoderBytes(deeper) - trainedEncoderBytes(config);
  const weights = bytesOf(deeper) - bytesOf(config);
  const inputs = 3 * 4 * 37 * 16 * 16; // of three layers: 37 tiles of 16 patches with 16 numbers
  expect(more).toBeGreaterThan(2 * weights + inputs);
  expect(more).toBeLessThan(1.5 * (2 * weights + inputs));
  expect(trainedEncoderBytes({ ...config, vision: null })).toBe(0);
});

test("an image in patches counts with the scores of all of its default size", async () => {
  const { config } = await visionFixture("qwen2_5_vl");
  expect(encoderBytes(config) - keptBytes).toBeGreaterThan(4 * 2 * (4 * 1280) ** 2);
});
