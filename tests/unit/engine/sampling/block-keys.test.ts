import { expect, test } from "vitest";
import { createBlockKeys } from "../../../../src/engine/sampling/block-keys.ts";

const prompt = (length: number, seed = 1) => Array.from({ length }, (_, index) => (index * 7 * seed) % 1000);
const fresh = (tokens: number[]) => createBlockKeys(64)("version 1", "a", tokens);

test("a prompt that grows has the keys that it would have without what is known of it", () => {
  const keys = createBlockKeys(64);
  for (const length of [10, 64, 150, 150, 320, 100]) {
    expect(keys("version 1", "a", prompt(length))).toEqual(fresh(prompt(length)));
  }
});

test("a prompt that parts from the one before has keys of its own from there on", () => {
  const keys = createBlockKeys(64);
  const before = keys("version 1", "a", prompt(256));
  const other = prompt(256).with(130, 999);
  const after = keys("version 1", "a", other);
  expect(after).toEqual(fresh(other));
  expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
  expect(after[2]).not.toBe(before[2]);
});

test("keys tell origins apart, and equal prompts of two trajectories not", () => {
  const keys = createBlockKeys(64, 100);
  expect(keys("version 1", "a", prompt(128))).toEqual(keys("version 1", "b", prompt(128)));
  expect(keys("version 2", "a", prompt(128))[0]).not.toBe(keys("version 1", "a", prompt(128))[0]);
});
