import type { ToolDefinition } from "../../contracts/message.ts";
import type { ReadCall } from "../../contracts/parsed-action.ts";
import { shortened, spacesEnd } from "./json-text.ts";
import { matchAt } from "./match-at.ts";
import { finder, type Marks, type Part } from "./scan.ts";
import { typedArguments, type WrittenArgument } from "./typed-value.ts";
import { unreadable } from "./unreadable.ts";

/** A notation of calls as tags, with arguments whose texts are unquoted. */
export interface Tags {
  /** Matches the opening of a call. Its group is the function's name. Sticky. */
  call: RegExp;
  /** How the opening begins. If present, calls may follow each other. */
  callOpen?: string;
  /** Closes a call. */
  callClose?: { tag: string; optional: boolean };
  /**
   * Matches the opening of an argument. Its groups are the name and, if the format declares it, whether it is text:
   * "true" or "false". Sticky.
   */
  argument: RegExp;
  /** How that begins. */
  argumentOpen: string;
  /** Closes an argument. */
  argumentClose: string;
  /** Extracts the value from the text between the tags. */
  unwrapped?(written: string): string;
  /** Texts that may follow the last call. */
  closes: readonly string[];
}

/** A call written as tags, or what is wrong with it. */
type Tagged = { name: string; given: WrittenArgument[]; wrong?: undefined } | { wrong: string };
type TaggedText = Tagged & { text: string };

/**
 * Reads a sequence of calls from an offset, and returns where they end. An argument's text ends with the closing tag
 * before another argument, the call's end, or the end of the text. Any other closing tag is text. After an
 * unreadable call, reading continues with the next one.
 */
export function readTagged(text: string, from: number, tags: Tags): { calls: TaggedText[]; end: number } {
  const calls: TaggedText[] = [];
  let left = 2 * (text.length - from) + 1;
  for (let at = from; ; ) {
    const start = spacesEnd(text, at);
    const { call, end } = readOne(text, start, tags);
    if (call === undefined) return { calls, end: at };
    left -= (call.wrong === undefined ? end : text.length) - start;
    const next = tags.callOpen === undefined ? -1 : text.indexOf(tags.callOpen, start + 1);
    if (call.wrong === undefined) {
      calls.push({ ...call, text: text.slice(start, end) });
      at = end;
      if (tags.callOpen === undefined) return { calls, end: at };
    } else if (next < 0 || left < 0) {
      calls.push({ ...call, text: text.slice(start) });
      return { calls, end: text.length };
    } else {
      calls.push({ ...call, text: text.slice(start, next) });
      at = next;
    }
  }
}

/** The calls between marks, with their arguments typed by the tools' schemas. */
export function taggedCalls(
  block: string,
  { tags, example, tools }: { tags: Tags; example: string; tools: readonly ToolDefinition[] },
): ReadCall[] {
  const { calls, end } = readTagged(block, 0, tags);
  const read = calls.map((call) => {
    if (call.wrong !== undefined) return unreadable(call.text, call.wrong, example);
    const { value, wrong } = typedArguments(tools, call.name, call.given);
    return wrong === undefined
      ? { name: call.name, arguments: value }
      : unreadable(call.text, wrong, example);
  });
  const left = block.slice(end).trim();
  if (left === "" && calls.length > 0) return read;
  const wrong =
    calls.length === 0 ? "the tool call names no function" : `“${shortened(left)}” stands outside of a call`;
  return [...read, unreadable(left, wrong, example)];
}

/** Finds the end of complete calls that one of `closes` follows; -1 if they are not complete. */
export function taggedEnd(tags: Tags): (text: string, from: number) => number {
  return (text, from) => {
    const { calls, end } = readTagged(text, from, tags);
    return calls.length === 0 || calls.some(({ wrong }) => wrong !== undefined) ? -1 : end;
  };
}

/**
 * Reads calls whose opening mark is missing. Within a line they must be complete, and `close` must follow. At the
 * beginning of a line, an unreadable one is a call with a problem.
 */
export function unopened(open: string, close: string, tags: Tags): Marks {
  const read = (text: string, at: number): Part | undefined => {
    const isLine = /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, at - 100), at));
    const whole = taggedEnd(tags)(text, at);
    const closing = whole < 0 ? text.indexOf(close, at) : spacesEnd(text, whole);
    const isClosed = closing >= 0 && text.startsWith(close, closing);
    if (!isLine && (whole < 0 || !isClosed)) return undefined;
    const end = whole >= 0 ? whole : isClosed ? closing : text.length;
    return { from: at, end, next: isClosed ? closing + close.length : end, closed: true };
  };
  return { open, read, bare: true };
}

function readOne(text: string, start: number, tags: Tags): { call: Tagged | undefined; end: number } {
  const opened = matchAt(tags.call, text, start);
  const name = opened?.groups[0]?.trim();
  if (opened === undefined || name === undefined) return { call: undefined, end: start };
  const given: WrittenArgument[] = [];
  const find = finder(text);
  const { callClose, closes, argumentOpen, argumentClose, unwrapped = (written) => written } = tags;
  const fails = (wrong: string) => ({ call: { wrong }, end: start });
  let at = opened.end;
  for (;;) {
    at = spacesEnd(text, at);
    const argument = matchAt(tags.argument, text, at);
    if (argument === undefined) break;
    const [key = "", isText] = argument.groups;
    const close = textEnd(argument.end);
    if (typeof close === "string") return fails(close);
    given.push({
      key: key.trim(),
      text: unwrapped(text.slice(argument.end, close)),
      kind: isText === undefined ? undefined : isText === "true" ? "text" : "json",
    });
    at = close + argumentClose.length;
  }
  if (callClose !== undefined && text.startsWith(callClose.tag, at))
    return { call: { name, given }, end: at + callClose.tag.length };
  if (text.startsWith(argumentOpen, at)) return fails("an argument is not closed");
  if (at < text.length && !closes.some((one) => text.startsWith(one, at)))
    return fails(`“${shortened(text.slice(at))}” stands where an argument should`);
  return callClose?.optional === false
    ? fails("the tool call is not closed")
    : { call: { name, given }, end: at };

  /** An argument inside an argument's text has its own closing tag. */
  function textEnd(from: number): number | string {
    let depth = 1;
    for (let place = from; ; ) {
      const close = find(argumentClose, place);
      if (close < 0) return "an argument is not closed";
      const open = find(argumentOpen, place);
      if (open >= 0 && open < close) {
        const inner = matchAt(tags.argument, text, open);
        if (inner !== undefined) depth++;
        place = inner?.end ?? open + 1;
        continue;
      }
      place = close + argumentClose.length;
      if (depth > 1) depth--;
      else if (isFollowed(place)) return close;
      else {
        const [another, nextClose] = [find(argumentOpen, place), find(argumentClose, place)];
        if (nextClose < 0 || (another >= 0 && another < nextClose))
          return `“${shortened(text.slice(place).trim())}” stands where an argument should`;
      }
    }
  }

  /** Whether the text after a closing tag may follow an argument. */
  function isFollowed(from: number): boolean {
    const after = spacesEnd(text, from);
    return [argumentOpen, callClose?.tag ?? "", ...closes].some(
      (one) => after === text.length || (one !== "" && text.startsWith(one, after)),
    );
  }
}
