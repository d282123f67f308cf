import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { isThere } from "../../base/files/is-there.ts";
import { persistently } from "../../base/files/persistently.ts";
import { defined } from "../../base/records/defined.ts";
import { isObject } from "../../contracts/json.ts";
import { compileChatTemplate, type ShownMessage } from "./chat-template.ts";
import { readChatTemplate } from "./chat-template-files.ts";
import type { Span } from "./control-text.ts";
import { exactTokenizer } from "./exact-tokenizer.ts";
import { fixedTemplate, type TemplateSettings } from "./fixed-template.ts";
import type { ControlTokens } from "./follow-up.ts";
import { shownFollowUp } from "./follow-up-shown.ts";
import { invalidTokenizer, readJsonFile } from "./json-file.ts";
import { readNamedEnds } from "./named-ends.ts";
import { controlTokens, withMarkedControl, withMarks } from "./plain-vocabulary.ts";

/** Converts text to token ids and back like Hugging Face's `tokenizers`. */
export type Tokenizer = {
  /**
   * Returns the token ids of `text`. Control tokens in it become their ids, except those that overlap with a span in
   * `written`, which are plain text. Adds no special tokens.
   */
  encode(text: string, written?: readonly Span[]): number[];
  /** Returns the text of `tokens`, including special tokens. Bytes that end inside a character become U+FFFD. */
  decode(tokens: readonly number[]): string;
  /** Texts of the control tokens, such as <|im_end|>, and of those that end an action. */
  control: ControlTokens;
  /** The token with which the chat template ends an assistant's message, or else eos_token: its text and id. */
  endOfTurn: { text: string; id: number };
  /** The token that ends a message with tool calls. */
  endOfCalls: { text: string; id: number };
  /** Ids of the tokens that end an action: endOfTurn, endOfCalls, eos_token, and those that the model's files name. */
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
 * Reads tokenizer.json and tokenizer_config.json of a Hugging Face folder, and the ends of an action from config.json
 * and generation_config.json if they exist. If tokenizer_config.json does not name the special tokens, reads them from
 * special_tokens_map.json. The chat template comes from the file `template`, or else from `readChatTemplate`. Throws
 * TOKENIZER_INVALID if a file is missing or lacks the template or eos_token, and the errors of `fixedTemplate` for
 * `settings`.
 */
export async function loadTokenizer(
  folder: string,
  template?: string,
  settings: TemplateSettings = {},
): Promise<Tokenizer> {
  const json = await readJsonFile(folder, "tokenizer.json");
  const names = await persistently(() => readTokenNames(folder));
  const config = { ...names, ...(await readJsonFile(folder, "tokenizer_config.json")) };
  const written = await persistently(() =>
    template === undefined ? readChatTemplate(folder, config) : readFile(template, "utf8"),
  );
  const chatTemplate = fixedTemplate(written, settings);
  const named = await persistently(() => readNamedEnds(folder));
  return openTokenizer({ folder, json, config, chatTemplate, named });
}

/** Throws TOKENIZER_INVALID unless a folder's tokenizer.json and tokenizer_config.json form a tokenizer. */
export async function checkTokenizerFiles(folder: string): Promise<void> {
  const json = await readJsonFile(folder, "tokenizer.json");
  await readJsonFile(folder, "tokenizer_config.json");
  build(folder, json);
}

/** The contents of a tokenizer's files. `named` are the ids that end an action in addition to eos_token. */
export interface TokenizerFiles {
  /** For error messages. */
  folder: string;
  json: Record<string, unknown>;
  config: Record<string, unknown>;
  chatTemplate: string;
  named: readonly number[];
}

/** Returns a tokenizer from the contents of its files. Throws TOKENIZER_INVALID. */
export function openTokenizer({ folder, json, config, chatTemplate, named }: TokenizerFiles): Tokenizer {
  const tokenizer = build(folder, json);
  const specialTokens = readSpecialTokens(config);
  const endText = specialTokens.eos_token;
  const endId = endText === undefined ? undefined : tokenizer.token_to_id(endText);
  if (endText === undefined || endId === undefined) {
    throw invalidTokenizer(folder, "tokenizer_config.json names no eos_token of the vocabulary");
  }
  const control = controlTokens(json).set(endText, endId);
  const also = named.filter((id) => tokenizer.id_to_token(id) !== undefined);
  const all = [...control.keys()];
  const known = all.filter((text) => text === endText || also.includes(control.get(text) ?? -1));
  const ends = templateEnds(chatTemplate, specialTokens, { all, ends: known });
  const tokenOf = (text: string) => ({ text, id: control.get(text) ?? endId });
  const endOfTurn = tokenOf(ends.text ?? endText);
  const endOfCalls = tokenOf(ends.calls ?? endOfTurn.text);
  let marked: HuggingFaceTokenizer | undefined;
  return {
    encode: (text, written = []) => {
      if (text === "") return [];
      if (written.length === 0) return tokenizer.encode(text, { add_special_tokens: false }).ids;
      marked ??= build(folder, withMarkedControl(json, control));
      return marked.encode(withMarks(text, control, written), { add_special_tokens: false }).ids;
    },
    decode: (tokens) =>
      tokens.length === 0 ? "" : tokenizer.decode([...tokens], { clean_up_tokenization_spaces: false }),
    control: { all, ends: [...new Set([...known, endOfTurn.text, endOfCalls.text])] },
    endOfTurn,
    endOfCalls,
    stopTokens: [...new Set([endOfTurn.id, endOfCalls.id, endId, ...also])],
    specialTokens,
    idOf: (token) => tokenizer.token_to_id(token),
    vocabularySize: sizeOf(tokenizer.get_vocab(true)),
    chatTemplate,
  };
}

/** A loop, because spreading the ids of a large vocabulary into `Math.max` overflows the stack. */
function sizeOf(vocabulary: ReadonlyMap<string, number>): number {
  let size = 0;
  for (const id of vocabulary.values()) size = Math.max(size, id + 1);
  return size;
}

function build(folder: string, json: Record<string, unknown>): HuggingFaceTokenizer {
  try {
    return exactTokenizer(json);
  } catch (cause) {
    throw invalidTokenizer(folder, `tokenizer.json is refused: ${messageOf(cause)}`, cause);
  }
}

/** Reads the special tokens in special_tokens_map.json, in case tokenizer_config.json does not name them. */
async function readTokenNames(folder: string): Promise<Record<string, unknown>> {
  const name = "special_tokens_map.json";
  return isThere(join(folder, name)) ? readSpecialTokens(await readJsonFile(folder, name)) : {};
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

/**
 * Returns the control tokens with which a chat template ends an action without calls and one with calls; undefined if
 * it can't write such a chat.
 */
function templateEnds(
  template: string,
  specialTokens: Readonly<Record<string, string>>,
  control: ControlTokens,
): { text?: string; calls?: string } {
  const endBefore = (message: ShownMessage, ends: readonly string[]) => {
    try {
      const render = compileChatTemplate(template, specialTokens);
      return shownFollowUp({ render, again: render }, { ...control, ends }, [message])?.end;
    } catch (error) {
      if (error instanceof EverturnError) return undefined; // framing reports this when it frames turns
      throw error;
    }
  };
  const text = endBefore({ role: "user", content: "?" }, control.ends);
  const known = text === undefined ? control.ends : [...control.ends, text];
  const calls = endBefore({ role: "tool", name: "tool", content: "?" }, known);
  return defined({ text, calls });
}
