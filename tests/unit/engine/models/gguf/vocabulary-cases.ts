import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Tokenizer } from "../../../../../src/engine/tokens/tokenizer.ts";
import { fetchLlamaCpp } from "../../../../support/llama-cpp.ts";

/** The texts of a vocabulary's file, each with the ids that the model's own tokenizer gives. */
async function casesOf(model: string): Promise<[text: string, tokens: number[]][]> {
  const vocabularies = await fetchLlamaCpp();
  const read = (kind: string) => readFile(join(vocabularies, `ggml-vocab-${model}.gguf.${kind}`), "utf8");
  const texts = (await read("inp")).split("\n__ggml_vocab_test__\n");
  const ids = (await read("out")).split("\n").map((line) => line.split(" ").filter(Boolean).map(Number));
  expect(ids.slice(texts.length).flat()).toEqual([]);
  return texts.map((text, at) => [text, ids[at]!]);
}

/** Expects a tokenizer to have `size` tokens and to encode the `count` texts of a published vocabulary. */
export async function expectIds(
  tokenizer: Tokenizer,
  model: string,
  { size, count }: { size: number; count: number },
): Promise<void> {
  expect(tokenizer.vocabularySize).toBe(size);
  const cases = await casesOf(model);
  expect(cases.length).toBe(count);
  expect(cases.map(([text]) => [text, tokenizer.encode(text)])).toEqual(cases);
}
