import { expect, test } from "vitest";
import { expectTokens, type TokenizerJson, written } from "./written-metadata.ts";

test("SentencePiece's tokens of llama-spm, with scores made from merges", async () => {
  const [scores, theirs] = expectTokens(await written("llama-spm", "llama"), true);
  const merged = scores.flatMap((score, id) => (score < 0 ? [{ score, other: theirs[id]! }] : []));
  merged.sort((a, b) => b.score - a.score);
  expect(merged.length).toBeGreaterThan(29_000);
  const steps = merged.slice(1).map(({ score, other }, at) => {
    return [Math.sign(score - merged[at]!.score), Math.sign(other - merged[at]!.other)];
  });
  expect(steps.filter(([ours, original]) => ours !== original)).toEqual([]);
});

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
