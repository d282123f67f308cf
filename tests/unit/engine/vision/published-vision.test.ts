import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parseModelConfig } from "../../../../src/engine/models/config/model-config-file.ts";
import { allWeightShapes } from "../../../../src/engine/models/weights/vision-weights.ts";
import { elementCount } from "../../../../src/engine/onnx/element-count.ts";

const folder = new URL("../../../fixtures/published/vision/", import.meta.url);

// Counted by transformers 5.23. tests/shapes compares their losses.
test.each([
  { name: "smolvlm-256m-instruct", parameters: 256_484_928 },
  { name: "qwen2.5-vl-3b-instruct", parameters: 3_754_622_976 },
])("$name: its config.json has transformers' number of parameters", async ({ name, parameters }) => {
  const config = parseModelConfig(await readFile(new URL(`${name}.json`, folder), "utf8"), name);
  const counts = Array.from(allWeightShapes(config).values(), elementCount);
  expect(counts.reduce((total, count) => total + count, 0)).toBe(parameters);
});
