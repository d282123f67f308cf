import type { ModelConfig } from "../../config/model-config.ts";
import { piecesMetadata } from "./pieces-metadata.ts";
import { preTokenizerName } from "./pre-tokenizers.ts";
import { tokenTypes, type Vocabulary } from "./vocabulary.ts";
import type { TypedValue } from "./writer.ts";

/** The contents of a tokenizer's files. */
export interface TokenizerSource {
  /** tokenizer.json. */
  json: Readonly<Record<string, unknown>>;
  /** Texts of bos_token, eos_token, unk_token and pad_token, if defined. */
  specialTokens: Readonly<Record<string, string>>;
  /** Ids of the tokens that end an action. */
  stopTokens: readonly number[];
  chatTemplate: string;
}

const specialKeys = { bos_token: "bos", eos_token: "eos", unk_token: "unknown", pad_token: "padding" };

/**
 * Returns the metadata of a BPE tokenizer, either of bytes or of SentencePiece's pieces, for a model with `vocab_size`
 * tokens. Tokens missing from tokenizer.json become unused ones. Returns the reason as a text for a tokenizer that GGUF
 * can't express.
 */
export function tokenizerMetadata(
  { json, specialTokens, stopTokens, chatTemplate }: TokenizerSource,
  { vocab_size, model_type }: Pick<ModelConfig, "vocab_size" | "model_type">,
): Map<string, TypedValue> | string {
  const { type, byte_fallback, unk_token, ...model } = fields(json.model);
  if (type !== "BPE") return `its tokenizer is of the type ${JSON.stringify(type)}, not BPE`;
  const vocabulary = vocabularyOf(json, vocab_size);
  const { tokens } = vocabulary;
  const merges = list(model.merges).map(mergePair);
  const { normalizer, pre_tokenizer: preTokenizer } = json;
  const kind =
    byte_fallback === true
      ? piecesMetadata(
          { normalizer, preTokenizer, unknownToken: unk_token, merges },
          vocabulary,
          model_type.startsWith("gemma"),
        )
      : bytesMetadata(preTokenizerName(normalizer, preTokenizer), merges, vocabulary);
  if (typeof kind === "string") return kind;
  const begins = list(fields(json.post_processor).single).some((part) => "SpecialToken" in fields(part));
  const ids = Object.entries(specialKeys).flatMap(([name, key]): [string, TypedValue][] => {
    const id = tokens.indexOf(specialTokens[name] ?? "");
    return id < 0 ? [] : [[`tokenizer.ggml.${key}_token_id`, { type: "uint32", value: id }]];
  });
  // GGUF has room for two ends in addition to eos_token: of a turn, and of a message
  const others = stopTokens.filter((id) => tokens[id] !== specialTokens.eos_token);
  const message = others.find((id) => tokens[id] === "<|eom_id|>") ?? others[1];
  const turn = others.find((id) => id !== message);
  for (const [key, value] of Object.entries({ eot: turn, eom: message })) {
    if (value !== undefined) ids.push([`tokenizer.ggml.${key}_token_id`, { type: "uint32", value }]);
  }
  return new Map<string, TypedValue>([
    ...kind,
    ["tokenizer.ggml.add_bos_token", { type: "bool", value: begins }],
    ["tokenizer.chat_template", { type: "string", value: chatTemplate }],
    ...ids,
  ]);
}

/** Returns the tokens by id. Those missing from tokenizer.json become unused ones. */
function vocabularyOf(json: TokenizerSource["json"], size: number): Vocabulary {
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  const types = tokens.map((): number => tokenTypes.unused);
  const place = (token: string, id: unknown, kind: number) => {
    if (typeof id !== "number" || id >= size) return;
    tokens[id] = token;
    types[id] = kind;
  };
  for (const [token, id] of Object.entries(fields(fields(json.model).vocab)))
    place(token, id, tokenTypes.normal);
  for (const added of list(json.added_tokens).map(fields)) {
    place(
      String(added.content),
      added.id,
      added.special === true ? tokenTypes.control : tokenTypes.userDefined,
    );
  }
  return { tokens, types };
}

/** Returns the metadata of a byte-level vocabulary with the splits of `pre`. */
function bytesMetadata(
  pre: string | undefined,
  merges: readonly (readonly string[])[],
  { tokens, types }: Vocabulary,
): Map<string, TypedValue> | string {
  if (pre === undefined) return "GGUF has no name for its pre-tokenizer";
  return new Map<string, TypedValue>([
    ["tokenizer.ggml.model", { type: "string", value: "gpt2" }],
    ["tokenizer.ggml.pre", { type: "string", value: pre }],
    ["tokenizer.ggml.tokens", { type: "strings", value: tokens }],
    ["tokenizer.ggml.token_type", { type: "int32s", value: types }],
    ["tokenizer.ggml.merges", { type: "strings", value: merges.map((pair) => pair.join(" ")) }],
  ]);
}

/** Newer files write a merge as a pair, and older ones as text. */
function mergePair(merge: unknown): string[] {
  return Array.isArray(merge) ? merge.map(String) : String(merge).split(" ");
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
