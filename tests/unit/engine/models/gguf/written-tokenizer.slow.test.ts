import { test } from "vitest";
import { asEarlierGemma } from "../../../../support/gemma-vocabulary.ts";
import { expectTokens, written } from "./written-metadata.ts";

test("SentencePiece's tokens of gemma-4, with scores made from merges", async () => {
  expectTokens(await written("gemma-4", "gemma3_text", asEarlierGemma), false); // its merges follow the tokens' order
});
