import { spacesEnd } from "./json-text.ts";

/** The marks at the beginning and end of a part of a text. */
export interface Marks {
  open: string;
  /** Absent: the part ends where the next one begins, or with the text. */
  close?: string;
  /**
   * Reads the part after an opening mark at `at` by its own structure, so that marks inside its texts have no
   * meaning. Undefined if it is not complete: it then ends with the next closing mark, wherever that is.
   */
  read?(text: string, at: number): Part | undefined;
  /**
   * The start of a part. Within a line the opening mark is text if something else follows it and nothing closes it.
   */
  starts?: string;
  /** The mark is text if `read` finds no part after it, and it does not end another part that is not closed. */
  bare?: true;
  /**
   * For thoughts: it may begin anywhere, because no text contains the mark by chance. Others only begin before the
   * answer.
   */
  anywhere?: true;
}

/** A part of a text from `from` to `end`. The text after it begins at `next`. */
export interface Part {
  from: number;
  end: number;
  next: number;
  closed: boolean;
  /** It is not a block, but stays in the rest with its marks. */
  isRest?: true;
}

/** A part of a text between marks. */
export interface Block {
  /** The index of its marks. */
  mark: number;
  text: string;
  closed: boolean;
  /** The whole part, including its marks. */
  written: string;
  /** Its offset in the rest. */
  at: number;
}

/** The parts of a text. */
export interface Scanned {
  reasoning: string;
  /** The text outside of thoughts and marks. */
  rest: string;
  blocks: Block[];
  /** A thought is not closed, and it contains the beginning of a block. */
  calledInThought: boolean;
}

export const think: readonly Marks[] = [{ open: "<think>", close: "</think>" }];

/**
 * Marks around a body. `bodyEnd` finds where it ends, or returns -1. Without `close`, it may end with the text or
 * before `open`.
 */
export function enclosing(
  marks: { open: string; close?: string; starts?: string },
  bodyEnd: (text: string, from: number) => number,
): Marks {
  const { open, close } = marks;
  return {
    ...marks,
    read: (text, at) => {
      const from = at + open.length;
      const end = bodyEnd(text, from);
      if (end < 0) return undefined;
      const after = spacesEnd(text, end);
      if (close !== undefined && text.startsWith(close, after))
        return { from, end, next: after + close.length, closed: true };
      const isLast = after === text.length || (close === undefined && text.startsWith(open, after));
      return isLast ? { from, end, next: after, closed: close === undefined } : undefined;
    },
  };
}

/**
 * Splits a text into thoughts, blocks and the rest in one pass. The end of a thought without a beginning ends a
 * thought that the prompt began: everything before it is thought. A thought that begins after the start of the
 * answer is part of the answer.
 */
export function scan(
  text: string,
  marks: readonly Marks[],
  { thoughts = think, dropped = [] }: { thoughts?: readonly Marks[]; dropped?: readonly string[] } = {},
): Scanned {
  const find = finder(text);
  const found: Scanned = { reasoning: "", rest: "", blocks: [], calledInThought: false };
  let hasThought = false;
  let isAnswering = false;
  const readPart = partReader(text, marks);
  const opened = [
    ...thoughts.map((of) => ({ kind: "thought", mark: of.open, of, index: 0 }) as const),
    ...thoughts.map((of) => ({ kind: "end", mark: of.close ?? "", of, index: 0 }) as const),
    ...marks.map((of, index) => ({ kind: "block", mark: of.open, of, index }) as const),
    ...dropped.map((mark) => ({ kind: "dropped", mark, of: undefined, index: 0 }) as const),
  ];
  for (let at = 0; ; ) {
    const next = earliest(
      opened,
      (candidate) => find(candidate.mark, at),
      (candidate) => candidate.mark.length,
    );
    say(text.slice(at, next?.at));
    if (next === undefined) return found;
    const { kind, mark, of, index } = next.of;
    const from = next.at + mark.length;
    at = from;
    if (kind === "end" && !hasThought) {
      hasThought = true;
      isAnswering = false;
      found.reasoning = text.slice(0, next.at);
      found.rest = "";
      found.blocks = [];
    } else if (kind === "end" && isAnswering && of.anywhere !== true) {
      say(mark);
    } else if (kind === "thought") {
      const { close = "", anywhere } = of;
      const end = find(close, from);
      if (isAnswering && anywhere !== true) {
        at = end < 0 ? from : end + close.length;
        say(text.slice(next.at, at));
        continue;
      }
      hasThought = true;
      const thought = text.slice(from, end < 0 ? undefined : end);
      found.reasoning += found.reasoning === "" ? thought : `\n${thought}`;
      if (end < 0) {
        found.calledInThought = scan(thought, marks, { thoughts: [] }).blocks.length > 0;
        return found;
      }
      at = end + close.length;
    } else if (kind === "block") {
      const part = readPart(next.at, index) ?? (of.bare ? undefined : partByMarks(from, index));
      if (part === undefined || (!part.closed && isMentioned(text, next.at, of))) {
        say(mark);
        continue;
      }
      const thoughtEnd =
        hasThought || part.closed ? undefined : earliest(thoughts, (one) => find(one.close ?? "", from));
      if (thoughtEnd !== undefined && thoughtEnd.at < part.end) continue; // inside a thought that the prompt began
      if (part.isRest) say(text.slice(next.at, part.next));
      else
        found.blocks.push({
          mark: index,
          text: text.slice(part.from, part.end),
          closed: part.closed,
          written: text.slice(next.at, part.next),
          at: found.rest.length,
        });
      at = part.next;
    }
  }

  function say(said: string): void {
    found.rest += said;
    isAnswering ||= said.trim() !== "";
  }

  function partByMarks(from: number, index: number): Part {
    const { close, read } = marks[index] ?? {};
    const closing = close === undefined ? -1 : find(close, from);
    const another = read === undefined && close !== undefined ? -1 : nextOpen(from);
    if (another >= 0 && (closing < 0 || another < closing))
      return { from, end: another, next: another, closed: close === undefined };
    if (closing < 0) return { from, end: text.length, next: text.length, closed: close === undefined };
    return { from, end: closing, next: closing + (close ?? "").length, closed: true };
  }

  function nextOpen(from: number): number {
    return earliest(marks, ({ open, bare }) => (bare ? -1 : find(open, from)))?.at ?? -1;
  }
}

/** Puts blocks back into the rest of a text, each as `shown` returns it. Default: as it was written. */
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

/** Whether an opening mark that nothing closes is only mentioned in the text. */
function isMentioned(text: string, at: number, { open, starts }: Marks): boolean {
  const line =
    text
      .slice(Math.max(0, at - 100), at)
      .split("\n")
      .at(-1) ?? "";
  const first = text[spacesEnd(text, at + open.length)];
  return starts !== undefined && line.trim() !== "" && first !== undefined && !starts.includes(first);
}

/**
 * The first mark in the text; among several at one offset, the one with the highest `weight`. Undefined if there is
 * none.
 */
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

/** Finds the next offset of a mark, for offsets that only grow. It searches for each occurrence once. */
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

/** Reads parts by their structure. It stops once it has read twice the length of the text. */
function partReader(text: string, marks: readonly Marks[]): (at: number, index: number) => Part | undefined {
  let left = 2 * text.length + 1;
  return (at, index) => {
    const { read } = marks[index] ?? {};
    if (read === undefined || left < 0) return undefined;
    const part = read(text, at);
    left -= (part === undefined ? text.length : part.next) - at;
    return part;
  };
}
