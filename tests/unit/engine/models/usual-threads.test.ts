import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { samplingThreads, usualThreads } from "../../../../src/engine/models/decode/usual-threads.ts";
import { publishedShapes } from "../../../shapes/published-shapes.ts";

const large = modelConfig(publishedShapes.get("qwen2.5-0.5b")!.config);
const small = modelConfig({
  ...large,
  vocab_size: 512,
  hidden_size: 64,
  intermediate_size: 128,
  head_dim: 16,
});

test("the operators of large models take all processors, those of small ones a few", () => {
  expect(usualThreads(large, 2)).toBe(Math.max(2, availableParallelism()));
  expect(usualThreads(small, 2)).toBe(2);
  expect(samplingThreads(small)).toBe(1);
});

test("sampling takes no more threads than leave a sample the same in any batch", () => {
  expect(samplingThreads(large)).toBe(Math.min(2, availableParallelism()));
  const oneHead = modelConfig({ ...large, num_key_value_heads: 1 });
  expect(samplingThreads(oneHead)).toBe(1);
  expect(samplingThreads(large, 16)).toBe(samplingThreads(large));
  expect(samplingThreads(large, 17)).toBe(1);
});
