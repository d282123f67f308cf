import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { isObject } from "../contracts/json.ts";
import { messageOf } from "../errors/message-of.ts";
import { endOfTurn } from "./end-of-turn.ts";
import { invalidTokenizer, readJsonFile } from "./json-file.ts";
import { readNamedEnds } from "./named-ends.ts";

/** Text to token ids and back, as Hugging Face's `tokenizers` does it. */
export type Tokenizer = {
  /** Token ids of `text`; special tokens written in it become their ids, and none is added. */
  encode(text: string): number[];
  /** Text of `tokens`, special tokens included. Bytes that end inside a character become U+FFFD. */
  decode(tokens: readonly number[]): string;
  /** The token that the chat template ends an assistant's message with, or else eos_token: its text and its id. */
  endOfTurn: { text: string; id: number };
  /** Ids of the tokens that end an action: endOfTurn, eos_token, and what the model's files name beside them. */
  stopTokens: readonly number[];
  /** Texts of the special tokens that tokenizer_config.json names: bos_token, eos_token, pad_token, unk_token. */
  specialTokens: Readonly<Record<string, string>>;
  /** The id of a token by its text. */
  idOf(token: string): number | undefined;
  /** One more than the largest id. */
  vocabularySize: number;
  /** The Jinja chat template's text. */
  chatTemplate: string;
};

/**
 * Reads tokenizer.json and tokenizer_config.json of a Hugging Face folder, and what ends an action from config.json and
 * generation_config.json, if they are there. A chat template in chat_template.jinja goes before the one in
 * tokenizer_config.json, as in transformers, and the one in the file `template` before both. Fails with TOKENIZER_INVALID
 * when a file is missing or lacks the template or eos_token.
 */
export async function loadTokenizer(folder: string, template?: string): Promise<Tokenizer> {
  const json = await readJsonFile(folder, "tokenizer.json");
  const config = await readJsonFile(folder, "tokenizer_config.json");
  const tokenizer = build(folder, json, config);
  const specialTokens = readSpecialTokens(config);
  const endText = specialTokens.eos_token;
  const endId = endText === undefined ? undefined : tokenizer.token_to_id(endText);
  if (endText === undefined || endId === undefined) {
    throw invalidTokenizer(folder, "tokenizer_config.json names no eos_token of the vocabulary");
  }
  const chatTemplate =
    template === undefined ? await readTemplate(folder, config) : await readFile(template, "utf8");
  const added = new Map([...tokenizer.get_added_tokens_decoder()].map(([id, { content }]) => [content, id]));
  const turnText = endOfTurn(chatTemplate, specialTokens, [...added.keys(), endText]) ?? endText;
  const turnId = added.get(turnText) ?? endId;
  const named = (await readNamedEnds(folder)).filter((id) => tokenizer.id_to_token(id) !== undefined);
  return {
    encode: (text) => (text === "" ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids),
    decode: (tokens) =>
      tokens.length === 0 ? "" : tokenizer.decode([...tokens], { clean_up_tokenization_spaces: false }),
    endOfTurn: { text: turnText, id: turnId },
    stopTokens: [...new Set([turnId, endId, ...named])],
    specialTokens,
    idOf: (token) => tokenizer.token_to_id(token),
    vocabularySize: sizeOf(tokenizer.get_vocab(true)),
    chatTemplate,
  };
}

/** Spread into `Math.max`, the ids of a large vocabulary overflow the stack. */
function sizeOf(vocabulary: ReadonlyMap<string, number>): number {
  let size = 0;
  for (const id of vocabulary.values()) size = Math.max(size, id + 1);
  return size;
}

async function readTemplate(folder: string, config: Record<string, unknown>): Promise<string> {
  const file = join(folder, "chat_template.jinja");
  if (existsSync(file)) return readFile(file, "utf8");
  if (typeof config.chat_template === "string") return config.chat_template;
  throw invalidTokenizer(folder, "there is no chat template in tokenizer_config.json or chat_template.jinja");
}

function build(
  folder: string,
  json: Record<string, unknown>,
  config: Record<string, unknown>,
): HuggingFaceTokenizer {
  try {
    return new HuggingFaceTokenizer({ ...json, pre_tokenizer: allDigits(json.pre_tokenizer) }, config);
  } catch (cause) {
    throw invalidTokenizer(folder, `tokenizer.json is refused: ${messageOf(cause)}`, cause);
  }
}

/** The library's own `Digits` knows ASCII's alone; Python's splits at every numeric character, as this does. */
function allDigits(preTokenizer: unknown): unknown {
  if (!isObject(preTokenizer)) return preTokenizer;
  const { type, pretokenizers, individual_digits: individual } = preTokenizer;
  if (type === "Sequence" && Array.isArray(pretokenizers)) {
    return { type, pretokenizers: pretokenizers.map(allDigits) };
  }
  if (type !== "Digits") return preTokenizer;
  const regex = individual === true ? "\\p{N}" : "\\p{N}+";
  return { type: "Split", pattern: { Regex: regex }, behavior: "Isolated", invert: false };
}

function readSpecialTokens(config: Record<string, unknown>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const name of ["bos_token", "eos_token", "pad_token", "unk_token"]) {
    const value = config[name];
    if (typeof value === "string") texts[name] = value;
    else if (isObject(value) && typeof value.content === "string") texts[name] = value.content;
  }
  return texts;
}
