import { isObject } from "../../contracts/json.ts";
import { anyOf, type Span } from "./control-text.ts";

/** Half of a character, which no text has: it stands around the id of a control token. */
const mark = "\uDBFF";
const markOf = (id: number) => `${mark}${id}${mark}`;

/** A tokenizer.json's control tokens: text and id. */
export function controlTokens(json: Record<string, unknown>): Map<string, number> {
  const added = Array.isArray(json.added_tokens) ? json.added_tokens : [];
  const control = added.filter((token) => isObject(token) && token.special === true);
  return new Map(control.map(({ content, id }) => [String(content), Number(id)]));
}

/** The tokenizer.json whose control tokens have names that stand in no text, so that their texts are text like any other. */
export function withMarkedControl(
  json: Record<string, unknown>,
  control: ReadonlyMap<string, number>,
): Record<string, unknown> {
  const renamed = (text: string) => {
    const id = control.get(text);
    return id === undefined ? text : markOf(id);
  };
  const { model, added_tokens: added } = json;
  return {
    ...json,
    ...(Array.isArray(added) && {
      added_tokens: added.map((token) =>
        isObject(token) ? { ...token, content: renamed(String(token.content)) } : token,
      ),
    }),
    ...(isObject(model) && { model: { ...model, vocab: renamedIn(model.vocab, renamed) } }),
    post_processor: null,
  };
}

function renamedIn(vocabulary: unknown, renamed: (text: string) => string): unknown {
  if (Array.isArray(vocabulary))
    return vocabulary.map((entry) =>
      Array.isArray(entry) ? [renamed(String(entry[0])), ...entry.slice(1)] : entry,
    );
  if (!isObject(vocabulary)) return vocabulary;
  return Object.fromEntries(Object.entries(vocabulary).map(([text, id]) => [renamed(text), id]));
}

/** A text for that tokenizer: its control tokens by their marks, but those that touch one of `written`, which are text. */
export function withMarks(
  text: string,
  control: ReadonlyMap<string, number>,
  written: readonly Span[],
): string {
  const known = anyOf([...control.keys()]);
  return text.replaceAll(known, (token, at: number) => {
    const isText = written.some(({ start, end }) => at < end && at + token.length > start);
    return isText ? token : markOf(control.get(token) ?? 0);
  });
}
