import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { asEarlierGemma } from "../../../../support/gemma-vocabulary.ts";
import { fetchLlamaCpp } from "../../../../support/llama-cpp.ts";
import { publishedTokenizer } from "../../../../support/published-tokenizer.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";
import { expectIds } from "./vocabulary-cases.ts";

const work = temporaryFolder();
beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

test.each([
  ["llama-bpe", 128_256, 47],
  ["qwen2", 151_936, 47],
  ["phi-3", 32_064, 47],
  ["deepseek-llm", 102_400, 47],
  ["deepseek-coder", 32_256, 47],
  ["qwen35", 151_936, 51],
  ["command-r", 256_000, 47],
  ["falcon", 65_024, 47],
  ["mpt", 50_432, 47],
  ["starcoder", 49_152, 47],
])("%s: a vocabulary of %i tokens, and the ids of %i texts", async (model, size, count) => {
  const tokenizer = await publishedTokenizer(model, join(work, model));
  await expectIds(tokenizer, model, { size, count });
});

test("Gemma's newest vocabulary, read as files of Gemma have theirs: without merges", async () => {
  const tokenizer = await publishedTokenizer("gemma-4", join(work, "gemma"), asEarlierGemma);
  await expectIds(tokenizer, "gemma-4", { size: 262_144, count: 46 });
});

test.each([
  ["gemma-4", 'tokenizer.ggml.model is "gemma4"; known are gpt2, llama'],
  ["nomic-bert-moe", 'tokenizer.ggml.model is "t5"; known are gpt2, llama'],
])("%s is refused by what it rests on", async (model, reason) => {
  const refused = publishedTokenizer(model, join(work, model));
  await expect(refused).rejects.toMatchObject({ code: "GGUF_UNSUPPORTED" });
  await expect(refused).rejects.toThrow(reason);
});
