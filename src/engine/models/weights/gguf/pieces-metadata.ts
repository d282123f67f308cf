import { isDeepStrictEqual } from "node:util";
import { pieceMerges, pieceSteps, spelledPieces } from "./tokenizer-model.ts";
import { tokenTypes, type Vocabulary } from "./vocabulary.ts";
import type { TypedValue } from "./writer.ts";

/** A BPE vocabulary of pieces in tokenizer.json. */
export interface PiecesSource {
  normalizer: unknown;
  preTokenizer: unknown;
  unknownToken: unknown;
  /** Pairs, in the order of merging. */
  merges: readonly (readonly string[])[];
}

/**
 * Returns the metadata of a SentencePiece vocabulary. tokenizer.json does not contain its scores, so they are derived
 * from the order of merges: the earlier a token is merged, the higher. Returns the reason as a text if no scores
 * express the same order.
 */
export function piecesMetadata(
  { normalizer, preTokenizer, unknownToken, merges }: PiecesSource,
  { tokens, types }: Vocabulary,
  isGemma: boolean,
): Map<string, TypedValue> | string {
  const steps = { normalizer, pre_tokenizer: preTokenizer ?? null };
  const prefixed = [true, false].find((one) => isDeepStrictEqual(pieceSteps(isGemma, one), steps));
  if (prefixed === undefined) return "GGUF has no name for what its tokenizer does to spaces";
  const spelled = spelledPieces(tokens, isGemma);
  const ranks = mergeRanks(merges);
  const scores = spelled.map((token) => -(ranks.get(token) ?? 0));
  if (!sameMerges(pieceMerges(spelled, scores, isGemma), merges))
    return "its merges are not those that SentencePiece's scores would give";
  return new Map<string, TypedValue>([
    ["tokenizer.ggml.model", { type: "string", value: "llama" }],
    ["tokenizer.ggml.pre", { type: "string", value: "default" }],
    ["tokenizer.ggml.tokens", { type: "strings", value: isGemma ? spelled.map(runSpelled) : tokens }],
    ["tokenizer.ggml.token_type", { type: "int32s", value: tokens.map(typeOf) }],
    ["tokenizer.ggml.scores", { type: "float32s", value: scores }],
    ["tokenizer.ggml.add_space_prefix", { type: "bool", value: prefixed }],
  ]);

  // llama.cpp matches Gemma's series of spaces literally
  function runSpelled(token: string, id: number): string {
    const isRun = types[id] === tokenTypes.userDefined && /^▁{2,}$/.test(token);
    return isRun ? " ".repeat(token.length) : token;
  }

  function typeOf(token: string, id: number): number {
    if (token === unknownToken) return tokenTypes.unknown;
    return /^<0x[0-9A-F]{2}>$/.test(token) ? tokenTypes.byte : types[id]!;
  }
}

/**
 * Returns each token's rank in the order of merging. Tokens with interleaved merges have the same rank, as Llama 2's
 * series of spaces have the same score.
 */
function mergeRanks(merges: PiecesSource["merges"]): ReadonlyMap<string, number> {
  const tokens = merges.map((pair) => pair.join(""));
  const last = new Map(tokens.map((token, at) => [token, at]));
  const ranks = new Map<string, number>();
  let rank = 0;
  let end = -1;
  for (const [at, token] of tokens.entries()) {
    if (at > end) rank = at;
    end = Math.max(end, last.get(token)!);
    ranks.set(token, rank);
  }
  return ranks;
}

/** Whether both merge the same pairs into the same tokens in order. */
function sameMerges(some: readonly (readonly string[])[], others: readonly (readonly string[])[]): boolean {
  const known = new Set(some.map(([left = "", right = ""]) => `${left.length} ${left}${right}`));
  return (
    some.length === others.length &&
    others.every(([left = "", right = ""], at) => {
      return known.has(`${left.length} ${left}${right}`) && some[at]!.join("") === left + right;
    })
  );
}
