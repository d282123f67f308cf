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

/** Text to token ids and back, as Hugging Face's `tokenizers` does it. */
export type Tokenizer = {
  /**
   * Token ids of `text`; control tokens written in it become their ids, but those that touch one of the parts `written`,
   * which are text like any other. None is added.
   */
  encode(text: string, written?: readonly Span[]): number[];
  /** Text of `tokens`, special tokens included. Bytes that end inside a character become U+FFFD. */
  decode(tokens: readonly number[]): string;
  /** Texts of the tokens that are no text, such as <|im_end|>, and of those that end an action. */
  control: ControlTokens;
  /** The token that the chat template ends an assistant's message with, or else eos_token: its text and its id. */
  endOfTurn: { text: string; id: number };
  /** The same of a message that calls tools. */
  endOfCalls: { text: string; id: number };
  /**
   * Ids of the tokens that end an action: endOfTurn, endOfCalls, eos_token, and what the model's files name beside them.
   */
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
 * generation_config.json, if they are there, and special tokens from special_tokens_map.json where tokenizer_config.json
 * names none. The chat template is that of `readChatTemplate`, or the one in the file `template`. Fails with TOKENIZER_INVALID
 * when a file is missing or lacks the template or eos_token, and as `fixedTemplate` does for `settings`.
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

/** Throws TOKENIZER_INVALID unless a folder's tokenizer.json and tokenizer_config.json make a tokenizer. */
export async function checkTokenizerFiles(folder: string): Promise<void> {
  const json = await readJsonFile(folder, "tokenizer.json");
  await readJsonFile(folder, "tokenizer_config.json");
  build(folder, json);
}

/** What a tokenizer's files hold; `named` are the ids that end an action beside eos_token. */
export interface TokenizerFiles {
  /** Named in errors. */
  folder: string;
  json: Record<string, unknown>;
  config: Record<string, unknown>;
  chatTemplate: string;
  named: readonly number[];
}

/** A tokenizer by what its files hold. Throws TOKENIZER_INVALID. */
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

/** Spread into `Math.max`, the ids of a large vocabulary overflow the stack. */
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

/** The special tokens that special_tokens_map.json names, where tokenizer_config.json may name none. */
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

/** The control token that a chat template ends an action with which calls no tool, and one that calls some; undefined where it can't write such a chat. */
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
      if (error instanceof EverturnError) return undefined; // framing says so when it is asked for turns
      throw error;
    }
  };
  const text = endBefore({ role: "user", content: "?" }, control.ends);
  const known = text === undefined ? control.ends : [...control.ends, text];
  const calls = endBefore({ role: "tool", name: "tool", content: "?" }, known);
  return defined({ text, calls });
}
