import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { asEarlierGemma } from "../../../../support/gemma-vocabulary.ts";
import { fetchLlamaCpp } from "../../../../support/llama-cpp.ts";
import { publishedTokenizer } from "../../../../support/published-tokenizer.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

// Whole vocabularies of published models, and the ids that the models' own tokenizers give to texts.
const work = temporaryFolder();
let vocabularies: string;

beforeAll(async () => {
  vocabularies = await fetchLlamaCpp();
});

/** Texts of a vocabulary's file, each with its ids. */
async function casesOf(model: string): Promise<[text: string, tokens: number[]][]> {
  const read = (kind: string) => readFile(join(vocabularies, `ggml-vocab-${model}.gguf.${kind}`), "utf8");
  const texts = (await read("inp")).split("\n__ggml_vocab_test__\n");
  const ids = (await read("out")).split("\n").map((line) => line.split(" ").filter(Boolean).map(Number));
  expect(ids.slice(texts.length).flat()).toEqual([]);
  return texts.map((text, at) => [text, ids[at]!]);
}

test.each([
  ["gpt-2", 50_257, 47],
  ["llama-bpe", 128_256, 47],
  ["qwen2", 151_936, 47],
  ["llama-spm", 32_000, 47],
  ["phi-3", 32_064, 47],
  ["deepseek-llm", 102_400, 47],
  ["deepseek-coder", 32_256, 47],
  ["qwen35", 151_936, 51],
  ["command-r", 256_000, 47],
  ["falcon", 65_024, 47],
  ["mpt", 50_432, 47],
  ["refact", 49_216, 47],
  ["starcoder", 49_152, 47],
])("%s: a vocabulary of %i tokens, and the ids of %i texts", async (model, size, count) => {
  const tokenizer = await publishedTokenizer(model, join(work, model));
  expect(tokenizer.vocabularySize).toBe(size);
  const cases = await casesOf(model);
  expect(cases.length).toBe(count);
  expect(cases.map(([text]) => [text, tokenizer.encode(text)])).toEqual(cases);
});

test("Gemma's newest vocabulary, read as files of Gemma have theirs: without merges", async () => {
  const tokenizer = await publishedTokenizer("gemma-4", join(work, "gemma"), asEarlierGemma);
  expect(tokenizer.vocabularySize).toBe(262_144);
  const cases = await casesOf("gemma-4");
  expect(cases.length).toBe(46);
  expect(cases.map(([text]) => [text, tokenizer.encode(text)])).toEqual(cases);
});

test.each([
  ["gemma-4", 'tokenizer.ggml.model is "gemma4"; known are gpt2, llama'],
  ["bert-bge", 'tokenizer.ggml.model is "bert"; known are gpt2, llama'],
  ["nomic-bert-moe", 'tokenizer.ggml.model is "t5"; known are gpt2, llama'],
  ["gpt-neox", "tokenizer.ggml.pre is undefined; known are smollm, gpt-2,"],
  ["aquila", "tokenizer.ggml.pre is undefined; known are smollm, gpt-2,"],
])("%s is refused by what it rests on", async (model, reason) => {
  const refused = publishedTokenizer(model, join(work, model));
  await expect(refused).rejects.toMatchObject({ code: "GGUF_UNSUPPORTED" });
  await expect(refused).rejects.toThrow(reason);
});
