import { isObject } from "../../contracts/json.ts";
import { anyOf, type Span } from "./control-text.ts";

/** A lone surrogate, which no text contains. It surrounds the id of a control token. */
const mark = "\uDBFF";
const markOf = (id: number) => `${mark}${id}${mark}`;

/** Returns the ids of a tokenizer.json's control tokens by text. */
export function controlTokens(json: Record<string, unknown>): Map<string, number> {
  const added = Array.isArray(json.added_tokens) ? json.added_tokens : [];
  const control = added.filter((token) => isObject(token) && token.special === true);
  return new Map(control.map(({ content, id }) => [String(content), Number(id)]));
}

/**
 * Renames the control tokens of a tokenizer.json to marks that no text contains, so that their original texts are plain
 * text.
 */
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

/**
 * Replaces the control tokens in a text by their marks, except those that overlap with a span in `written`, which are
 * plain text.
 */
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
