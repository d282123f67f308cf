import { preTokenizerName } from "./pre-tokenizers.ts";
import { tokenTypes } from "./vocabulary.ts";
import type { TypedValue } from "./writer.ts";

/** A tokenizer as its files have it. */
export interface TokenizerSource {
  /** tokenizer.json. */
  json: Readonly<Record<string, unknown>>;
  /** Texts of bos_token, eos_token, unk_token and pad_token, as far as they are named. */
  specialTokens: Readonly<Record<string, string>>;
  /** Ids of the tokens that end an action. */
  stopTokens: readonly number[];
  chatTemplate: string;
}

const specialKeys = { bos_token: "bos", eos_token: "eos", unk_token: "unknown", pad_token: "padding" };

/**
 * The metadata of a byte-level BPE tokenizer, with `size` tokens: those that tokenizer.json lacks are unused ones.
 * Gives a text, the reason, for a tokenizer that GGUF has no name for.
 */
export function tokenizerMetadata(
  { json, specialTokens, stopTokens, chatTemplate }: TokenizerSource,
  size: number,
): Map<string, TypedValue> | string {
  const { type, vocab, merges } = fields(json.model);
  if (type !== "BPE") return `its tokenizer is of the type ${JSON.stringify(type)}, not BPE`;
  const pre = preTokenizerName(json.normalizer, json.pre_tokenizer);
  if (pre === undefined) return "GGUF has no name for its pre-tokenizer";
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  const types = tokens.map((): number => tokenTypes.unused);
  const place = (token: string, id: unknown, kind: number) => {
    if (typeof id !== "number" || id >= size) return;
    tokens[id] = token;
    types[id] = kind;
  };
  for (const [token, id] of Object.entries(fields(vocab))) place(token, id, tokenTypes.normal);
  for (const added of list(json.added_tokens).map(fields)) {
    place(
      String(added.content),
      added.id,
      added.special === true ? tokenTypes.control : tokenTypes.userDefined,
    );
  }
  const begins = list(fields(json.post_processor).single).some((part) => "SpecialToken" in fields(part));
  const ids = Object.entries(specialKeys).flatMap(([name, key]): [string, TypedValue][] => {
    const id = tokens.indexOf(specialTokens[name] ?? "");
    return id < 0 ? [] : [[`tokenizer.ggml.${key}_token_id`, { type: "uint32", value: id }]];
  });
  // GGUF has room for two ends beside eos_token: of a turn, and of a message
  const others = stopTokens.filter((id) => tokens[id] !== specialTokens.eos_token);
  const message = others.find((id) => tokens[id] === "<|eom_id|>") ?? others[1];
  const turn = others.find((id) => id !== message);
  for (const [key, value] of Object.entries({ eot: turn, eom: message })) {
    if (value !== undefined) ids.push([`tokenizer.ggml.${key}_token_id`, { type: "uint32", value }]);
  }
  return new Map<string, TypedValue>([
    ["tokenizer.ggml.model", { type: "string", value: "gpt2" }],
    ["tokenizer.ggml.pre", { type: "string", value: pre }],
    ["tokenizer.ggml.tokens", { type: "strings", value: tokens }],
    ["tokenizer.ggml.token_type", { type: "int32s", value: types }],
    ["tokenizer.ggml.merges", { type: "strings", value: list(merges).map(mergeText) }],
    ["tokenizer.ggml.add_bos_token", { type: "bool", value: begins }],
    ["tokenizer.chat_template", { type: "string", value: chatTemplate }],
    ...ids,
  ]);
}

/** Newer files write a merge as a pair, older ones as a text. */
function mergeText(merge: unknown): string {
  return Array.isArray(merge) ? merge.join(" ") : String(merge);
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
