import { join } from "node:path";
import { expect, test } from "vitest";
import { readGgufHeader } from "../../../../../src/engine/models/weights/gguf/header.ts";
import { keepBlocks, keptBits } from "../../../../../src/engine/models/weights/gguf/keep-blocks.ts";
import { readBlocks, readGgufTensors } from "../../../../../src/engine/models/weights/gguf/tensors.ts";
import { dequantizeMatrix } from "../../../../../src/engine/models/weights/quantize.ts";
import { readSafetensors } from "../../../../../src/engine/models/weights/safetensors.ts";

const folder = join(import.meta.dirname, "../../../../fixtures/gguf");
const path = join(folder, "quantized.gguf");
const expected = await readSafetensors(join(folder, "quantized.safetensors"));
const read = await readGgufTensors(path, readGgufHeader(path).tensors.values());

const kept: Record<string, number> = { Q4_0: 4, Q4_1: 4, Q4_K: 4, Q5_0: 8, Q8_0: 8, Q6_K: 8 };
const blockKinds = [...expected.keys()].map((name) => [name, kept[name]] as const);

test("every block type is in the fixture", () => {
  expect([...read.keys()].sort()).toEqual([...expected.keys()].sort());
  expect(read.size).toBe(13);
});

test.each([...expected.keys()])("%s gives the numbers that gguf-py gives, bit by bit", (name) => {
  const bits = (floats: Float32Array) => new Uint32Array(floats.buffer);
  expect(read.get(name)?.shape).toEqual([3, 256]);
  expect(bits(read.get(name)!.data)).toEqual(bits(expected.get(name)!.data));
});

test.each([...blockKinds])(
  "blocks of %s are kept as integers that stand for the same numbers",
  async (name, bits) => {
    const header = readGgufHeader(path).tensors.get(name)!;
    expect(keptBits(header.type)).toBe(bits);
    if (bits === undefined) return;
    const blocks = await readBlocks(path, header);
    const matrix = keepBlocks(blocks, header.type, header.shape);
    expect(matrix.bits).toBe(bits);
    expect(dequantizeMatrix(matrix)).toEqual(expected.get(name));
  },
);
