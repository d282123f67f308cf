import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ModelConfig } from "../../../../../src/engine/models/config/model-config.ts";
import type { GgufHeader } from "../../../../../src/engine/models/weights/gguf/header.ts";
import { tokenizerMetadata } from "../../../../../src/engine/models/weights/gguf/tokenizer-metadata.ts";
import { asEarlierGemma } from "../../../../support/gemma-vocabulary.ts";
import { publishedTokenizer } from "../../../../support/published-tokenizer.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";

const work = temporaryFolder();
let count = 0;

/** What a file would say of the tokenizer that was made from a published vocabulary, beside what that one's file says. */
async function written(
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

interface TokenizerJson {
  normalizer: unknown;
  pre_tokenizer: unknown;
  model: { merges: [string, string][] };
}

test.each([
  ["llama-spm", "llama", () => {}, true],
  ["gemma-4", "gemma3_text", asEarlierGemma, false],
] as const)(
  "SentencePiece's tokens of %s, with scores made from merges",
  async (name, family, prepare, prefixed) => {
    const { original, metadata } = await written(name, family, prepare);
    if (typeof metadata === "string") throw new Error(metadata);
    const value = (key: string) => metadata.get(`tokenizer.ggml.${key}`)?.value;
    expect(value("model")).toBe("llama");
    expect(value("add_space_prefix")).toBe(prefixed);
    for (const key of ["tokens", "token_type", "bos_token_id", "unknown_token_id"]) {
      expect([key, value(key)]).toEqual([key, original.get(`tokenizer.ggml.${key}`)]);
    }
    const scores = value("scores");
    const theirs = original.get("tokenizer.ggml.scores");
    if (!Array.isArray(scores) || !Array.isArray(theirs)) throw new Error("no scores");
    expect(scores.length).toBe(theirs.length);
    if (family.startsWith("gemma")) return; // whose merges follow the tokens' order
    const merged = scores.flatMap((score, id) => (score < 0 ? [{ score, other: Number(theirs[id]) }] : []));
    merged.sort((a, b) => b.score - a.score);
    expect(merged.length).toBeGreaterThan(29_000);
    const steps = merged.slice(1).map(({ score, other }, at) => {
      return [Math.sign(score - merged[at]!.score), Math.sign(other - merged[at]!.other)];
    });
    expect(steps.filter(([ours, original]) => ours !== original)).toEqual([]);
  },
);

test.each<[string, string, (json: TokenizerJson) => TokenizerJson]>([
  [
    "a pair that isn't merged",
    "not those that SentencePiece's scores would give",
    withMerges((all) => all.slice(1)),
  ],
  [
    "a token that is merged at two times",
    "not those that SentencePiece's scores would give",
    withMerges((all) => {
      const again = all.findIndex(([left, right], at) => at > 0 && left + right === all[at - 1]!.join(""));
      return [...all.slice(0, again), ...all.slice(again + 1), all[again]!];
    }),
  ],
  [
    "a pair of its own",
    "not those that SentencePiece's scores would give",
    withMerges((all) => [...all.slice(1), ["q", "\u0000"]]),
  ],
  [
    "a way with spaces that llama.cpp doesn't have",
    "GGUF has no name for what its tokenizer does to spaces",
    (json) => ({ ...json, pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "first" } }),
  ],
])("a SentencePiece vocabulary with %s is not written", async (_, reason, change) => {
  const { metadata } = await written("llama-spm", "llama", () => {}, change);
  expect(metadata).toContain(reason);
});

function withMerges(change: (merges: [string, string][]) => [string, string][]) {
  return (json: TokenizerJson): TokenizerJson => ({
    ...json,
    model: { ...json.model, merges: change(json.model.merges) },
  });
}
