import type { JsonObject, JsonValue } from "../../../../contracts/json.ts";
import { unsupportedGguf } from "./config-metadata.ts";
import type { GgufHeader } from "./header.ts";
import { deriveMerges } from "./merges.ts";
import { preTokenizers } from "./pre-tokenizers.ts";
import { numbersAt, stringsAt, tokenTypes, type Vocabulary } from "./vocabulary.ts";

/** The parts of tokenizer.json that define how a text becomes tokens. */
export interface TokenizerModel {
  normalizer: JsonObject | null;
  pre_tokenizer: JsonObject | null;
  decoder: JsonObject;
  model: JsonObject;
}

const space = "▁";

/** Returns the model for tokenizer.ggml.model: “gpt2” or “llama”. Throws GGUF_UNSUPPORTED for others. */
export function tokenizerModel(
  path: string,
  metadata: GgufHeader["metadata"],
  vocabulary: Vocabulary,
): TokenizerModel {
  const kind = metadata.get("tokenizer.ggml.model");
  if (kind === "gpt2") return byteLevel(path, metadata, vocabulary);
  if (kind === "llama") return sentencePiece(path, metadata, vocabulary);
  throw unsupportedGguf(path, `tokenizer.ggml.model is ${JSON.stringify(kind)}; known are gpt2, llama`);
}

/** Byte-level BPE, as GPT-2 introduced it. */
function byteLevel(path: string, metadata: GgufHeader["metadata"], { tokens }: Vocabulary): TokenizerModel {
  const name = metadata.get("tokenizer.ggml.pre");
  const known = preTokenizers.get(String(name));
  if (known === undefined) {
    const names = [...preTokenizers.keys()].join(", ");
    throw unsupportedGguf(path, `tokenizer.ggml.pre is ${JSON.stringify(name)}; known are ${names}`);
  }
  const merges = stringsAt(path, metadata, "tokenizer.ggml.merges").map((merge) => merge.split(" "));
  const broken = merges.find((pair) => pair.length !== 2);
  if (broken) throw unsupportedGguf(path, `tokenizer.ggml.merges holds “${broken.join(" ")}”, not a pair`);
  return {
    normalizer: known.normalizer,
    pre_tokenizer: known.preTokenizer,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: bytePairs(tokens, merges, { ignore_merges: known.ignoreMerges }),
  };
}

/** SentencePiece's BPE (Llama 2, Mistral, Gemma), with bytes for text that no token covers. */
function sentencePiece(
  path: string,
  metadata: GgufHeader["metadata"],
  { tokens, types }: Vocabulary,
): TokenizerModel {
  const isGemma = String(metadata.get("general.architecture")).startsWith("gemma");
  const spelled = spelledPieces(tokens, isGemma);
  const scores = isGemma ? [] : numbersAt(path, metadata, "tokenizer.ggml.scores", tokens.length);
  const merges = pieceMerges(spelled, scores, isGemma);
  const prefixed = !isGemma && metadata.get("tokenizer.ggml.add_space_prefix") !== false;
  const unknown = tokens[types.indexOf(tokenTypes.unknown)] ?? null;
  const strip = { type: "Strip", content: " ", start: 1, stop: 0 };
  const decoders = [
    replace(space, " "),
    { type: "ByteFallback" },
    { type: "Fuse" },
    ...(prefixed ? [strip] : []),
  ];
  return {
    ...pieceSteps(isGemma, prefixed),
    decoder: { type: "Sequence", decoders },
    model: bytePairs(spelled, merges, { unk_token: unknown, fuse_unk: true, byte_fallback: true }),
  };
}

/** Returns the pieces in tokenizer.json's form. Gemma's files write series of spaces as spaces. */
export function spelledPieces(tokens: readonly string[], isGemma: boolean): readonly string[] {
  return isGemma
    ? tokens.map((token) => (/^ {2,}$/.test(token) ? space.repeat(token.length) : token))
    : tokens;
}

/** Returns the merges of pieces by their scores, highest first. Gemma's follow its order instead. */
export function pieceMerges(
  spelled: readonly string[],
  scores: readonly number[],
  isGemma: boolean,
): [string, string][] {
  return deriveMerges(spelled, (token) => (isGemma ? token : -scores[token]!));
}

/**
 * Returns the steps that a SentencePiece vocabulary applies to a text before it merges pieces. `prefixed`: adds a space
 * before every text.
 */
export function pieceSteps(
  isGemma: boolean,
  prefixed: boolean,
): Pick<TokenizerModel, "normalizer" | "pre_tokenizer"> {
  // SentencePiece's dummy prefix: one more space, even before a text that begins with one
  const prefix = { type: "Prepend", prepend: space };
  return {
    normalizer: prefixed
      ? { type: "Sequence", normalizers: [prefix, replace(" ", space)] }
      : replace(" ", space),
    pre_tokenizer: isGemma
      ? { type: "Split", pattern: { String: " " }, behavior: "MergedWithPrevious", invert: false }
      : null,
  };
}

function replace(from: string, to: string): JsonObject {
  return { type: "Replace", pattern: { String: from }, content: to };
}

function bytePairs(tokens: readonly string[], merges: string[][], options: JsonObject): JsonObject {
  const vocab: Record<string, JsonValue> = Object.fromEntries(tokens.map((token, id) => [token, id]));
  return {
    type: "BPE",
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    ...options,
    vocab,
    merges,
  };
}
