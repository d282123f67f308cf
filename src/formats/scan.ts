import { jsonEnd, spacesEnd } from "./json-text.ts";

/** What begins and ends a part of a text. */
export interface Marks {
  open: string;
  /** Absent: the part ends where the next one begins, or with the text. */
  close?: string;
  /** What is between is JSON: a mark inside of its strings is text. */
  json?: true;
}

/** A part of a text between marks. */
export interface Block {
  /** Which of the marks. */
  mark: number;
  text: string;
  closed: boolean;
  /** The whole of it, marks included. */
  written: string;
  /** Where it stood in the rest. */
  at: number;
}

/** A text taken apart. */
export interface Scanned {
  reasoning: string;
  /** What is neither thought nor between marks. */
  rest: string;
  blocks: Block[];
  /** A thought was not ended, and something in it begins as a block does. */
  calledInThought: boolean;
}

export const think: readonly Marks[] = [{ open: "<think>", close: "</think>" }];

/**
 * Takes a text apart, from its start to its end, once: thoughts, blocks, the rest. What ends a thought that was not begun ends
 * one that the prompt began: all before it is thought.
 */
export function scan(
  text: string,
  marks: readonly Marks[],
  { thoughts = think, dropped = [] }: { thoughts?: readonly Marks[]; dropped?: readonly string[] } = {},
): Scanned {
  const find = finder(text);
  const found: Scanned = { reasoning: "", rest: "", blocks: [], calledInThought: false };
  let hasThought = false;
  const readJson = jsonReader(text);
  const opened = [
    ...thoughts.map(({ open, close }) => ({ kind: "thought", mark: open, close, index: 0 }) as const),
    ...thoughts.map(({ close = "" }) => ({ kind: "end", mark: close, close, index: 0 }) as const),
    ...marks.map(({ open, close }, index) => ({ kind: "block", mark: open, close, index }) as const),
    ...dropped.map((mark) => ({ kind: "dropped", mark, close: undefined, index: 0 }) as const),
  ];
  for (let at = 0; ; ) {
    const next = earliest(
      opened,
      ({ mark }) => find(mark, at),
      ({ mark }) => mark.length,
    );
    found.rest += text.slice(at, next?.at);
    if (next === undefined) return found;
    const { kind, mark, close, index } = next.of;
    const from = next.at + mark.length;
    at = from;
    if (kind === "end" && !hasThought) {
      hasThought = true;
      found.reasoning = text.slice(0, next.at);
      found.rest = "";
      found.blocks = [];
    } else if (kind === "thought") {
      hasThought = true;
      const end = find(close ?? "", from);
      const thought = text.slice(from, end < 0 ? undefined : end);
      found.reasoning += found.reasoning === "" ? thought : `\n${thought}`;
      if (end < 0) {
        found.calledInThought = marks.some(({ open }) => thought.includes(open));
        return found;
      }
      at = end + (close ?? "").length;
    } else if (kind === "block") {
      const end = blockEnd(from, index);
      const thoughtEnd =
        hasThought || end.closed ? undefined : earliest(thoughts, (one) => find(one.close ?? "", from));
      if (thoughtEnd !== undefined && thoughtEnd.at < end.at) continue; // it stands in a thought that the prompt began
      found.blocks.push({
        ...{ mark: index, text: text.slice(from, end.at), closed: end.closed },
        ...{ written: text.slice(next.at, end.next), at: found.rest.length },
      });
      at = end.next;
    }
  }

  function blockEnd(from: number, index: number): { at: number; next: number; closed: boolean } {
    const { close, json } = marks[index] ?? {};
    if (json !== undefined) {
      const end = readJson(from);
      const after = end < 0 ? -1 : spacesEnd(text, end);
      if (after >= 0 && (close === undefined ? after === text.length : text.startsWith(close, after)))
        return { at: end, next: after + (close ?? "").length, closed: true };
    }
    const closing = close === undefined ? -1 : find(close, from);
    const another = json === undefined && close !== undefined ? -1 : nextOpen(from);
    if (another >= 0 && (closing < 0 || another < closing))
      return { at: another, next: another, closed: close === undefined };
    if (closing < 0) return { at: text.length, next: text.length, closed: close === undefined };
    return { at: closing, next: closing + (close ?? "").length, closed: true };
  }

  function nextOpen(from: number): number {
    return earliest(marks, ({ open }) => find(open, from))?.at ?? -1;
  }
}

/** The rest of a text, with blocks in their places, each as `shown` has it. Default: as it was written. */
export function withBlocks(
  rest: string,
  blocks: readonly Block[],
  shown: (block: Block) => string = ({ written }) => written,
): string {
  let whole = "";
  let from = 0;
  for (const block of blocks) {
    whole += rest.slice(from, block.at) + shown(block);
    from = block.at;
  }
  return whole + rest.slice(from);
}

/** The one that stands first, of several at one place the one that `weight` says more of; undefined if none does. */
function earliest<Of>(
  all: readonly Of[],
  place: (one: Of) => number,
  weight: (one: Of) => number = () => 0,
): { of: Of; at: number } | undefined {
  let first: { of: Of; at: number } | undefined;
  for (const of of all) {
    const at = place(of);
    if (at < 0 || (first !== undefined && at > first.at)) continue;
    if (first === undefined || at < first.at || weight(of) > weight(first.of)) first = { of, at };
  }
  return first;
}

/** Where a mark stands next, asked from ever later places: each is looked for once. */
export function finder(text: string): (mark: string, from: number) => number {
  const places = new Map<string, number>();
  return (mark, from) => {
    const known = places.get(mark);
    if (known !== undefined && (known < 0 || known >= from)) return known;
    const at = mark === "" ? -1 : text.indexOf(mark, from);
    places.set(mark, at);
    return at;
  };
}

/** Where the JSON after a place ends, or -1; no more once what it read twice is longer than the text. */
function jsonReader(text: string): (from: number) => number {
  let left = 2 * text.length + 1;
  return (from) => {
    if (left < 0) return -1;
    const end = jsonEnd(text, from);
    left -= (end < 0 ? text.length : end) - from;
    return end;
  };
}
