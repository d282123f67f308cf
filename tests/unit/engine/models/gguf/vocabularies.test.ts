import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { fetchLlamaCpp } from "../../../../support/llama-cpp.ts";
import { publishedTokenizer } from "../../../../support/published-tokenizer.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";
import { expectIds } from "./vocabulary-cases.ts";

const work = temporaryFolder();
beforeAll(fetchLlamaCpp, 600_000); // the first time it is downloaded

test.each([
  ["gpt-2", 50_257, 47],
  ["llama-spm", 32_000, 47],
  ["refact", 49_216, 47],
])("%s: a vocabulary of %i tokens, and the ids of %i texts", async (model, size, count) => {
  const tokenizer = await publishedTokenizer(model, join(work, model));
  await expectIds(tokenizer, model, { size, count });
});

test.each([
  ["bert-bge", 'tokenizer.ggml.model is "bert"; known are gpt2, llama'],
  ["gpt-neox", "tokenizer.ggml.pre is undefined; known are smollm, gpt-2,"],
  ["aquila", "tokenizer.ggml.pre is undefined; known are smollm, gpt-2,"],
])("%s is refused by what it rests on", async (model, reason) => {
  const refused = publishedTokenizer(model, join(work, model));
  await expect(refused).rejects.toMatchObject({ code: "GGUF_UNSUPPORTED" });
  await expect(refused).rejects.toThrow(reason);
});
