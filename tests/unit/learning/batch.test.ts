import { expect, test } from "vitest";
import { batchSequences } from "../../../src/learning/batch.ts";
import { llamaConfig } from "../../../src/models/llama-config.ts";

const config = llamaConfig({
  vocab_size: 50,
  hidden_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 8,
  max_position_embeddings: 32,
});

test("sequences are padded to a multiple of 8, and each action token is predicted by the row before it", () => {
  const batch = batchSequences(
    [
      { tokens: [10, 11, 12, 13, 14, 15], mask: [0, 0, 1, 0, 1, 0] },
      { tokens: [20, 21], mask: [0, 1] },
    ],
    config,
  );
  expect([batch.batch, batch.length]).toEqual([2, 8]);
  expect([...batch.tokens].map(Number)).toEqual([10, 11, 12, 13, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0]);
  expect([...batch.positions].map(Number).slice(0, 4)).toEqual([0, 1, 2, 3]);
  expect([...batch.rows].map(Number)).toEqual([1, 3, 8]);
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
