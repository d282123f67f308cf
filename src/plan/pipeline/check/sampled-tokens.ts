import { EverturnError } from "../../../base/errors/everturn-error.ts";
import type { Problem } from "../../../base/validation/problem.ts";
import { isObject, type JsonValue } from "../../../contracts/json.ts";
import type { PolicyFraming } from "../../../contracts/policy.ts";
import type { DemonstratedChat } from "../read/demonstrated-chat.ts";
import { placeOfRow } from "../read/row-problems.ts";

type Vocabulary = NonNullable<PolicyFraming["vocabulary"]>;

/** The most demonstrations whose tokens are decoded. */
const decoded = 64;

/** The most characters of a text to show. */
const shown = 60;

/**
 * Finds demonstrations whose token ids are those of another tokenizer: ids outside the vocabulary, or ids whose text
 * has less than half of the words that the row's messages have. `set` is the setting that names the demonstrations.
 */
export function sampledTokenProblems(
  vocabulary: Vocabulary | undefined,
  demonstrations: readonly DemonstratedChat[],
  set: string,
): Problem[] {
  if (vocabulary === undefined) return [];
  const sampled = demonstrations.filter((chat) => chat.sampled !== undefined);
  const outside = sampled.flatMap((chat) => {
    const id = chat.sampled?.tokens.find((token) => token >= vocabulary.size);
    return id === undefined ? [] : [{ chat, id }];
  });
  const [first] = outside;
  if (first !== undefined)
    return [
      foreign(
        outside.map(({ chat }) => chat),
        set,
        `${first.id} is not one of its ${vocabulary.size} tokens`,
      ),
    ];
  const different = sampled.slice(0, decoded).flatMap((chat) => {
    const text = writtenText(vocabulary, chat);
    return isOfWords(text, wordsOf(chat)) ? [] : [{ chat, text }];
  });
  const [one] = different;
  if (one === undefined) return [];
  const says = `the text of the ids is “${cut(one.text)}”, and the messages are “${cut(wordsOf(one.chat).join(" "))}”`;
  return [
    foreign(
      different.map(({ chat }) => chat),
      set,
      says,
    ),
  ];
}

function foreign(chats: readonly DemonstratedChat[], set: string, reason: string): Problem {
  const place = placeOfRow(chats[0], set);
  const rows = chats.length === 1 ? "" : ` and those of ${chats.length - 1} more`;
  return { place, error: new EverturnError("DEMONSTRATED_TOKENS_FOREIGN", { at: place.text, rows, reason }) };
}

/** The text of the tokens that the model wrote. */
function writtenText({ decode }: Vocabulary, { sampled }: DemonstratedChat): string {
  return decode((sampled?.tokens ?? []).filter((_, at) => sampled?.mask[at] === 1));
}

/** The words of the messages that the model wrote: text, thoughts, and texts in the arguments of calls. */
function wordsOf({ messages, given }: DemonstratedChat): string[] {
  const own = messages.filter(({ role }, index) => role === "assistant" && !given?.has(index));
  const texts = own.flatMap(({ content, reasoning_content: thoughts = "", tool_calls: calls = [] }) => [
    thoughts,
    content,
    ...calls.flatMap((call) => textsIn(call.function.arguments)),
  ]);
  return texts.join(" ").match(/[\p{L}\p{N}]+/gu) ?? [];
}

function textsIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (isObject(value)) return Object.values(value).flatMap((one) => textsIn(one ?? null));
  return typeof value === "string" ? [value] : [];
}

function isOfWords(text: string, words: readonly string[]): boolean {
  return words.filter((word) => text.includes(word)).length >= words.length / 2;
}

function cut(text: string): string {
  return text.length > shown ? `${text.slice(0, shown)}…` : text;
}
