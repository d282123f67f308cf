import { expect, test } from "vitest";
import { createPrefixStore } from "../../../../src/engine/sampling/prefix-store.ts";

const block = () => ({ keys: [new Float32Array(4)], values: [new Float32Array(4)] });
const bytes = 32;

test("the least recently used blocks go first; those of weights that are gone go at once", () => {
  const store = createPrefixStore();
  store.limit(3 * bytes);
  store.keep("a", block(), "version 1");
  store.keep("ab", block(), "version 1");
  store.keep("c", block(), "version 2");
  expect(store.find(["a", "ab", "abd"])).toHaveLength(2); // used, so c is the oldest
  store.keep("e", block(), "version 2");
  expect(store.find(["c"])).toHaveLength(0);
  store.forget("version 1");
  expect(store.find(["a"])).toHaveLength(0);
  expect(store.find(["e"])).toHaveLength(1);
  store.keep("f", block(), "version 2");
  store.keep("g", block(), "version 2"); // room that the others had
  expect(["e", "f", "g"].map((key) => store.find([key]).length)).toEqual([1, 1, 1]);
  store.limit(0);
  expect(store.find(["e"])).toHaveLength(0);
});
