import { expect, test } from "vitest";
import { batchSequences } from "../../../../src/engine/learning/batch.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";

const config = modelConfig({
  vocab_size: 50,
  hidden_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 8,
  max_position_embeddings: 32,
});

test("tokens lie one after the other; padding is only where attention wants it", () => {
  const batch = batchSequences(
    [
      { tokens: [10, 11, 12, 13, 14, 15], mask: [0, 0, 1, 0, 1, 0] },
      { tokens: [20, 21, 22], mask: [0, 1, 1] },
    ],
    config,
  );
  expect([batch.batch, batch.length]).toEqual([2, 4]);
  expect([...batch.tokens].map(Number)).toEqual([10, 11, 12, 13, 20, 21]);
  expect([...batch.positions].map(Number)).toEqual([0, 1, 2, 3, 0, 1]);
  expect([...batch.index].map(Number)).toEqual([0, 1, 2, 3, 4, 5, 0, 0]);
  expect([...batch.places].map(Number)).toEqual([0, 1, 2, 3, 4, 5]);
  expect([...batch.present]).toEqual([1, 1, 1, 1, 1, 1, 0, 0]);
});

test("what sequences begin with alike, up to the token before the first action, are the same rows", () => {
  const mask = [0, 0, 0, 1];
  const batch = batchSequences(
    [
      { tokens: [10, 11, 12, 13], mask },
      { tokens: [10, 11, 12, 14], mask },
      { tokens: [10, 15, 12, 14], mask },
    ],
    config,
  );
  expect([...batch.tokens].map(Number)).toEqual([10, 11, 12, 12, 15, 12]);
  expect([...batch.index].map(Number)).toEqual([0, 1, 2, 0, 1, 3, 0, 4, 5]);
  expect([...batch.places].map(Number)).toEqual([0, 1, 2, 5, 7, 8]);
  expect([...batch.present]).toEqual([1, 1, 1, 0, 0, 1, 0, 1, 1]);
  expect([...batch.shared].map(Number)).toEqual([0, 1]);
  expect([...batch.copies].map(Number)).toEqual([3, 6, 4, 0]);
  expect([...batch.copied]).toEqual([1, 1, 1, 0]);
  expect([...batch.actions].map(Number)).toEqual([2, 3, 5]);
});

test("a sequence shares rows with an earlier one even if another one is in between", () => {
  const mask = [0, 0, 0, 0, 1];
  const batch = batchSequences(
    [
      { tokens: [10, 11, 12, 13, 14], mask },
      { tokens: [10, 15, 12, 13, 14], mask },
      { tokens: [10, 11, 12, 13, 14], mask },
      { tokens: [10, 11, 16, 13, 14], mask },
    ],
    config,
  );
  expect([...batch.tokens].map(Number)).toEqual([10, 11, 12, 13, 15, 12, 13, 13, 16, 13]);
  expect([...batch.index].map(Number)).toEqual([0, 1, 2, 3, 0, 4, 5, 6, 0, 1, 2, 7, 0, 1, 8, 9]);
});

test("each action token is predicted by the row before it", () => {
  const batch = batchSequences(
    [
      { tokens: [10, 11, 12, 13, 14, 15], mask: [0, 0, 1, 0, 1, 0] },
      { tokens: [20, 21], mask: [0, 1] },
    ],
    config,
  );
  expect([...batch.actions].map(Number)).toEqual([1, 3, 4]);
  expect([...batch.targets].map(Number)).toEqual([12, 14, 21]);
});

test.each([
  [[1, 2], [0], "sequence 0 has 2 tokens, but a mask of 1"],
  [[], [], "sequence 0 is empty"],
  [Array(33).fill(1), Array(33).fill(0), "sequence 0 has 33 tokens, more than the model's 32"],
  [[1, 50], [0, 1], "sequence 0 holds the id 50, outside the vocabulary of 50"],
  [[1, 2], [0, 0.5], "sequence 0 has a mask of other numbers than 0 and 1"],
  [[1, 2], [1, 1], "sequence 0 marks its first token"],
  [[1, 2], [0, 0], "none of its tokens carries loss"],
])("the tokens %j with the mask %j are refused", (tokens, mask, message) => {
  expect(() => batchSequences([{ tokens, mask }], config)).toThrow(message);
});
