import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { ModelConfig } from "../../../../../src/engine/models/config/model-config.ts";
import type { GgufHeader } from "../../../../../src/engine/models/weights/gguf/header.ts";
import { tokenizerMetadata } from "../../../../../src/engine/models/weights/gguf/tokenizer-metadata.ts";
import { publishedTokenizer } from "../../../../support/published-tokenizer.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

const work = temporaryFolder();
let count = 0;

/** Returns the metadata that a file would have for a published vocabulary, and the metadata of its original file. */
export async function written(
  vocabulary: string,
  model_type: ModelConfig["model_type"],
  prepare: (metadata: GgufHeader["metadata"]) => void = () => {},
  change: (json: TokenizerJson) => TokenizerJson = (json) => json,
) {
  const folder = join(work, `${vocabulary}-${count++}`);
  let original: GgufHeader["metadata"] = new Map();
  const tokenizer = await publishedTokenizer(vocabulary, folder, (metadata) => {
    prepare(metadata);
    original = metadata;
  });
  const json: TokenizerJson = change(JSON.parse(await readFile(join(folder, "tokenizer.json"), "utf8")));
  const { specialTokens, stopTokens, chatTemplate, vocabularySize } = tokenizer;
  const source = { json: { ...json }, specialTokens, stopTokens, chatTemplate };
  return { original, metadata: tokenizerMetadata(source, { vocab_size: vocabularySize, model_type }) };
}

export interface TokenizerJson {
  normalizer: unknown;
  pre_tokenizer: unknown;
  model: { merges: [string, string][] };
}

/** Expects metadata to have the tokens of the original file, and a score for each. Returns both files' scores. */
export function expectTokens(
  { original, metadata }: Awaited<ReturnType<typeof written>>,
  addsSpacePrefix: boolean,
): [ours: number[], theirs: number[]] {
  if (typeof metadata === "string") throw new Error(metadata);
  const value = (key: string) => metadata.get(`tokenizer.ggml.${key}`)?.value;
  expect(value("model")).toBe("llama");
  expect(value("add_space_prefix")).toBe(addsSpacePrefix);
  for (const key of ["tokens", "token_type", "bos_token_id", "unknown_token_id"]) {
    expect([key, value(key)]).toEqual([key, original.get(`tokenizer.ggml.${key}`)]);
  }
  const [ours, theirs] = [value("scores"), original.get("tokenizer.ggml.scores")];
  if (!Array.isArray(ours) || !Array.isArray(theirs)) throw new Error("there are no scores");
  expect(ours.length).toBe(theirs.length);
  return [ours.map(Number), theirs.map(Number)];
}
