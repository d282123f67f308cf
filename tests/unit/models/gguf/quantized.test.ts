import { join } from "node:path";
import { expect, test } from "vitest";
import { readGgufHeader } from "../../../../src/models/gguf/header.ts";
import { readGgufTensors } from "../../../../src/models/gguf/tensors.ts";
import { readSafetensors } from "../../../../src/models/safetensors.ts";

const folder = join(import.meta.dirname, "../../../fixtures/gguf");
const path = join(folder, "quantized.gguf");
const expected = await readSafetensors(join(folder, "quantized.safetensors"));
const read = await readGgufTensors(path, readGgufHeader(path).tensors.values());

test("every block type is in the fixture", () => {
  expect([...read.keys()].sort()).toEqual([...expected.keys()].sort());
  expect(read.size).toBe(13);
});

test.each([...expected.keys()])("%s gives the numbers that gguf-py gives, bit by bit", (name) => {
  const bits = (floats: Float32Array) => new Uint32Array(floats.buffer);
  expect(read.get(name)?.shape).toEqual([3, 256]);
  expect(bits(read.get(name)!.data)).toEqual(bits(expected.get(name)!.data));
});
