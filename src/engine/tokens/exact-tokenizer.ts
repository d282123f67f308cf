import { Tokenizer } from "@huggingface/tokenizers";
import { isObject } from "../../contracts/json.ts";
import { exactDecoder, exactNormalizer } from "./exact-parts.ts";
import { exactPreTokenizer } from "./exact-pre-tokenizer.ts";
import { precompiledNormalizer } from "./precompiled-normalizer.ts";
import { type SplitBehavior, splitPieces } from "./split-pieces.ts";

type Json = Record<string, unknown>;

/** The library's part that turns words into tokens. */
interface Model {
  fuse_unk?: boolean;
  _call(words: string[]): string[];
}

/** The library's part that turns tokens into text. Sequence contains several. */
interface Decoder {
  config: { type: string };
  decoders?: Decoder[];
  text_decoder?: { decode(bytes: Uint8Array): string };
  replacement?: string;
  decode_chain(tokens: string[]): string[];
}

/** The library's part that normalizes texts. Sequence contains several. */
interface Normalizer {
  config: { type: string; precompiled_charsmap?: unknown };
  normalizers?: Normalizer[];
  pattern?: RegExp;
  normalize(text: string): string;
}

/** The library's part that splits texts. Sequence contains several, and Split has a pattern. */
interface PreTokenizer {
  config?: { type: string; behavior: SplitBehavior; invert: boolean };
  pattern?: RegExp;
  tokenizers?: PreTokenizer[];
  pre_tokenize_text(text: string): string[];
}

/**
 * Returns a tokenizer of @huggingface/tokenizers that encodes and decodes exactly like Python's `tokenizers`. Throws
 * Error for a tokenizer.json for which that is impossible.
 */
export function exactTokenizer(json: Json): Tokenizer {
  refuseInexact(json);
  const tokenizer = new Tokenizer(
    {
      ...json,
      normalizer: exactNormalizer(json.normalizer),
      pre_tokenizer: exactPreTokenizer(json.pre_tokenizer),
      decoder: exactDecoder(json.decoder),
    },
    { unk_token: isObject(json.model) ? json.model.unk_token : undefined }, // for WordLevel
  );
  const model: Model = tokenizer.model;
  const decoder: Decoder | null = tokenizer.decoder;
  const normalizer: Normalizer | null = tokenizer.normalizer;
  const preTokenizer: PreTokenizer | null = tokenizer.pre_tokenizer;
  const whole = model._call.bind(model);
  // unknown tokens of different words stay separate
  if (model.fuse_unk === true) model._call = (words) => words.flatMap((word) => whole([word]));
  if (decoder !== null) for (const part of decodersOf(decoder)) correctDecoder(part);
  if (normalizer !== null) for (const part of normalizersOf(normalizer)) correctNormalizer(part);
  if (preTokenizer !== null) for (const part of preTokenizersOf(preTokenizer)) correctPreTokenizer(part);
  for (const { content, special, normalized } of addedTokens(json)) {
    const text = String(content);
    if (special !== true && normalized === true && normalizer !== null && normalizer.normalize(text) !== text)
      throw new Error(
        `the normalizer changes the added token ${JSON.stringify(text)}, which is not supported`,
      );
  }
  return tokenizer;
}

function addedTokens(json: Json): Json[] {
  return Array.isArray(json.added_tokens) ? json.added_tokens.filter(isObject) : [];
}

/** Throws Error for parts that the library can't do exactly. */
function refuseInexact(json: Json): void {
  const added = addedTokens(json);
  const single = added.find((token) => token.single_word === true);
  if (single !== undefined)
    throw new Error(`single_word of the added token ${String(single.content)} is not supported`);
  const model = isObject(json.model) ? json.model : {};
  if (typeof model.dropout === "number" && model.dropout > 0)
    throw new Error("dropout is not supported: it encodes a text differently each time");
  if (
    model.type === "BPE" &&
    typeof model.continuing_subword_prefix === "string" &&
    model.continuing_subword_prefix !== ""
  )
    throw new Error("continuing_subword_prefix of BPE is not supported");
  if (model.type === "Unigram" && model.byte_fallback === true)
    throw new Error("byte_fallback of Unigram is not supported");
  if (JSON.stringify(json.pre_tokenizer ?? null).includes('"prepend_scheme":"first"'))
    refuseInexactFirst(json, added);
}

/** The library recognizes the first part of a text only if no earlier step split it. */
function refuseInexactFirst(json: Json, added: readonly Json[]): void {
  const isCut = isObject(json.pre_tokenizer) && json.pre_tokenizer.type === "Sequence";
  const isChanged = /"type":"(?:Strip|Replace)"/.test(JSON.stringify(json.normalizer ?? null));
  if (isCut || isChanged || added.some(({ normalized }) => normalized === true))
    throw new Error(
      'the prepend_scheme "first" is not supported with other splits or with normalized added tokens',
    );
}

function decodersOf(decoder: Decoder): Decoder[] {
  return decoder.decoders?.flatMap(decodersOf) ?? [decoder];
}

function normalizersOf(normalizer: Normalizer): Normalizer[] {
  return normalizer.normalizers?.flatMap(normalizersOf) ?? [normalizer];
}

function preTokenizersOf(preTokenizer: PreTokenizer): PreTokenizer[] {
  return preTokenizer.tokenizers?.flatMap(preTokenizersOf) ?? [preTokenizer];
}

/** Adds the behaviors that the library's Split lacks. It knows two. */
function correctPreTokenizer(part: PreTokenizer): void {
  const { config, pattern } = part;
  if (config?.type !== "Split" || pattern === undefined) return;
  part.pre_tokenize_text = (text) => splitPieces(text, pattern, config.behavior, config.invert);
}

/**
 * Replaces the library's Precompiled, which only approximates the map of most models. Throws Error for a map that it
 * can't read.
 */
function correctNormalizer(part: Normalizer): void {
  const { type, precompiled_charsmap: map } = part.config;
  if (type === "Replace" && part.pattern !== undefined && "".match(part.pattern) !== null)
    throw new Error("a Replace whose pattern matches the empty text is not supported");
  if (type === "Precompiled") part.normalize = precompiledNormalizer(map);
}

function correctDecoder(part: Decoder): void {
  if (part.config.type === "ByteFallback") part.text_decoder = new FallbackTextDecoder();
  const { replacement } = part;
  if (part.config.type === "Metaspace" && replacement !== undefined)
    part.decode_chain = (tokens) =>
      tokens.map((token, at) => token.replaceAll(replacement, at === 0 ? "" : " "));
}

/** Decodes each byte of invalid UTF-8 as one U+FFFD, and keeps a byte order mark. */
class FallbackTextDecoder extends TextDecoder {
  constructor() {
    super("utf-8", { fatal: true, ignoreBOM: true });
  }

  override decode(bytes: Uint8Array): string {
    try {
      return super.decode(bytes);
    } catch (error) {
      if (error instanceof TypeError) return "\ufffd".repeat(bytes.length);
      throw error;
    }
  }
}
