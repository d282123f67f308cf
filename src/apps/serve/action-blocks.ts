import { jsonEnd, spacesEnd } from "../../chat/formats/json-text.ts";
import { finder } from "../../chat/formats/scan.ts";

/** A part of an action between marks or fences. */
export interface ActionBlock {
  /** Its opening mark; for a fence its first three characters and its language, in lower case. */
  form: string;
  text: string;
}

interface ActionParts {
  blocks: ActionBlock[];
  /** The text outside of thoughts and blocks. */
  rest: string;
  /** The action ends in an open thought, in which a block begins. */
  calledInThought: boolean;
}

export const fence = "```";
const [thought, thoughtEnd] = ["<think>", "</think>"];

/**
 * Splits an action in one pass. A mark inside a block or a thought is text, and a block that is not closed does not
 * count. A closing `</think>` without a beginning ends a thought that the prompt began, which is everything before
 * it. Blocks of `tool_call`, the first of the marks, contain JSON.
 */
export function actionBlocks(
  action: string,
  marks: readonly { open: string; close: string }[],
  languages: readonly string[],
): ActionParts {
  const find = finder(action);
  const jsonClose = jsonCloser(action);
  const closingLines = new Map<string, { at: number; length: number }>();
  const opened = [thought, thoughtEnd, ...marks.map(({ open }) => open), fence];
  const parts: ActionParts = { blocks: [], rest: "", calledInThought: false };
  let hasThought = false;
  for (let at = 0; ; ) {
    const next = first(opened, (candidate) => find(candidate, at));
    parts.rest += action.slice(at, next?.at);
    if (next === undefined) return parts;
    const { of: mark, at: start } = next;
    const from = start + mark.length;
    const end = mark === thought ? find(thoughtEnd, from) : -1;
    at = from;
    if (mark === thoughtEnd && !hasThought) {
      hasThought = true;
      parts.blocks = [];
      parts.rest = "";
    } else if (mark === thought && end >= 0) {
      hasThought = true;
      at = end + thoughtEnd.length;
    } else if (mark === thought && parts.rest.trim() === "" && parts.blocks.length === 0) {
      const inThought = action.slice(from);
      parts.calledInThought = marks.some(({ open, close }) => inThought.split(open, 2)[1]?.includes(close));
      return parts;
    } else {
      const [signs = mark] = mark === fence ? match(/`+/y, start) : [];
      const block = mark === fence ? fencedBlock(signs, start) : markedBlock(mark, from);
      if (block === undefined) parts.rest += signs;
      else parts.blocks.push(block);
      at = block?.next ?? start + signs.length;
    }
  }

  function markedBlock(open: string, from: number): (ActionBlock & { next: number }) | undefined {
    const close = marks.find((one) => one.open === open)?.close;
    const end = close === undefined ? -1 : find(close, from);
    if (close === undefined || end < 0) return undefined;
    const to = open === marks[0]?.open ? Math.max(end, jsonClose(from, close)) : end;
    const text = action.slice(from, to);
    // The block opens inside a thought that the prompt began, and opens again after it.
    if (!hasThought && text.includes(thoughtEnd) && text.includes(open)) return undefined;
    return { form: open, text, next: to + close.length };
  }

  /**
   * A fenced block. A line that begins with at least as many fence characters closes it, or for a single-line fence
   * the next ones.
   */
  function fencedBlock(signs: string, start: number): (ActionBlock & { next: number }) | undefined {
    const [whole = "", language = ""] = match(/\n?([A-Za-z]+)\s/y, start + signs.length);
    if (!languages.includes(language.toLowerCase())) return undefined;
    const from = start + signs.length + whole.length;
    const closing = closingLine(signs, from);
    const end = closing?.at ?? find(signs, from);
    if (end < 0) return undefined;
    const next = end + (closing?.length ?? signs.length);
    return { form: fence + language.toLowerCase(), text: action.slice(from, end), next };
  }

  /** Finds closing lines from offsets that only grow, so that each line is searched for once. */
  function closingLine(signs: string, from: number): { at: number; length: number } | undefined {
    const known = closingLines.get(signs);
    if (known !== undefined && known.at >= from) return known.at === action.length ? undefined : known;
    const line = new RegExp(`(?<=\n) {0,3}${signs}\`*(?![A-Za-z\`])`, "g");
    line.lastIndex = from;
    const closing = line.exec(action);
    const found = { at: closing?.index ?? action.length, length: closing?.[0].length ?? 0 };
    closingLines.set(signs, found);
    return closing === null ? undefined : found;
  }

  function match(pattern: RegExp, place: number): readonly string[] {
    pattern.lastIndex = place;
    return pattern.exec(action) ?? [];
  }
}

/**
 * Returns a function that finds the closing mark after the JSON at an offset, or -1. It stops once it has read twice
 * the action's length.
 */
function jsonCloser(action: string): (from: number, close: string) => number {
  let left = 2 * action.length + 1;
  return (from, close) => {
    if (left < 0) return -1;
    const end = jsonEnd(action, from);
    left -= (end < 0 ? action.length : end) - from;
    const after = end < 0 ? -1 : spacesEnd(action, end);
    return after >= 0 && action.startsWith(close, after) ? after : -1;
  };
}

/** The first in the text, and among several at one offset the first in the list; undefined if there is none. */
function first<Of>(all: readonly Of[], place: (one: Of) => number): { of: Of; at: number } | undefined {
  let found: { of: Of; at: number } | undefined;
  for (const of of all) {
    const at = place(of);
    if (at >= 0 && (found === undefined || at < found.at)) found = { of, at };
  }
  return found;
}
