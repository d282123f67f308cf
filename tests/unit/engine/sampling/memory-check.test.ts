import { describe, expect, test } from "vitest";
import { limitedMemory } from "../../../../src/base/processes/available-memory.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { bytesOfPosition, keyValueTypeOf } from "../../../../src/engine/models/decode/key-values.ts";
import {
  checkMemory,
  fittingShare,
  planMemory,
  usualKeyValueBytes,
  versionBytes,
  type WeightsAsked,
} from "../../../../src/engine/sampling/memory-check.ts";

const config = modelConfig({
  vocab_size: 1000,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 128,
  max_position_embeddings: 256,
});

test("a plan holds the weights, and keys and values up to their limit with an array that grows", () => {
  expect(bytesOfPosition(config)).toBe(2 * 2 * 2 * 16 * 4);
  const planned = (keyValueBytes: number) => planMemory(config, 8, { keyValueBytes, weights: 500 });
  expect(planned(2 ** 40)).toEqual({ weights: 500, images: 0, keyValues: 1.25 * 8 * 256 * 512 });
  expect(planned(1000)).toEqual({ weights: 500, images: 0, keyValues: 1250 });
  const rounded = planMemory(config, 8, { keyValueBytes: 2 ** 40, keyValues: "int8", weights: 500 });
  expect(rounded.keyValues).toBe(planned(2 ** 40).keyValues / 4);
});

describe("the memory of a version", () => {
  const floats = 4 * (2 * 1000 * 64 + 64 + 2 * (2 * 64 + 2 * 64 * 64 + 2 * 32 * 64 + 3 * 64 * 128));
  const held = (asked: Partial<WeightsAsked>) =>
    versionBytes(config, { fewBits: undefined, isWidened: false, ...asked });

  test("is that of its floats and, unpacked, of its embeddings", () => {
    expect(held({})).toBe(floats + 4 * 1000 * 64);
  });

  test("includes few bits and what is made of them", () => {
    expect(held({ fewBits: 500 })).toBe(875);
    expect(held({ fewBits: 500, isWidened: true })).toBe(1125);
  });

  test("counts everything twice on cards", () => {
    expect(held({ device: "webgpu" })).toBe(2 * floats);
    expect(held({ fewBits: 500, device: "cuda" })).toBe(1000);
  });
});

test("a plan that exceeds what is available is refused, with its parts", () => {
  const plan = { weights: 3 * 2 ** 20, keyValues: 2 ** 20 };
  expect(() => checkMemory(plan, 4 * 2 ** 20)).not.toThrow();
  expect(() => checkMemory(plan, 2 ** 20)).toThrow("3 MiB for weights and 1 MiB for keys and values");
});

test("keys and values make do with less than their limit, down to a quarter", () => {
  const plan = { weights: 3 * 2 ** 20, keyValues: 4 * 2 ** 20 };
  expect(fittingShare(plan, 16 * 2 ** 20)).toBe(1);
  expect(fittingShare(plan, 5 * 2 ** 20)).toBe(0.5);
  expect(fittingShare(plan, 4 * 2 ** 20)).toBe(0.25);
  expect(() => fittingShare(plan, 4 * 2 ** 20 - 1)).toThrow("1 MiB for keys and values");
});

test("where nobody says how much they may take, it is an eighth of the machine's or container's memory, and a quarter of 1 GiB is enough", () => {
  const gibibytes = (count: number) => count * 2 ** 30;
  const usual = (machine: number, constrained: number) =>
    usualKeyValueBytes(limitedMemory([], constrained, machine));
  expect(usual(gibibytes(16), 0)).toBe(gibibytes(2)); // not constrained
  expect(usual(gibibytes(16), gibibytes(2 ** 34))).toBe(gibibytes(2)); // nor here
  expect(usual(gibibytes(64), gibibytes(32))).toBe(gibibytes(4));
  expect(usual(gibibytes(4), 0)).toBe(gibibytes(1));
  const plan = { weights: gibibytes(1), keyValues: gibibytes(8) };
  expect(fittingShare(plan, gibibytes(1.25), false)).toBe(1 / 32);
  expect(() => fittingShare(plan, gibibytes(1.25), true)).toThrow("2048 MiB for keys and values");
  expect(() => fittingShare(plan, gibibytes(1.24), false)).toThrow("256 MiB for keys and values");
  const small = { weights: gibibytes(1), keyValues: gibibytes(0.5) };
  expect(() => fittingShare(small, gibibytes(1.12), false)).toThrow("128 MiB for keys and values");
});

test("keys and values are kept in a card's half precision, where its operator takes the heads", () => {
  const cuda = { device: "cuda", precision: "bfloat16" } as const;
  expect(keyValueTypeOf({ head_dim: 64 }, cuda)).toBe("bfloat16");
  expect(keyValueTypeOf({ head_dim: 20 }, cuda)).toBe("float32");
  expect(keyValueTypeOf({ head_dim: 64 }, { device: "cuda" })).toBe("float32");
  expect(keyValueTypeOf({ head_dim: 64 }, { device: "webgpu", precision: "float16" })).toBe("float32");
  expect(keyValueTypeOf({ head_dim: 64 }, {}, true)).toBe("int8");
});
