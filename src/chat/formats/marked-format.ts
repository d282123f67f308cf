import type { FormatName } from "../../contracts/format-name.ts";
import type { ToolCall, ToolDefinition } from "../../contracts/message.ts";
import type { ReadAction, ReadCall } from "../../contracts/parsed-action.ts";
import { type ModelFormat, modelFormat } from "./action-format.ts";
import { jsonCalls } from "./json-calls.ts";
import { jsonEnd, jsonText } from "./json-text.ts";
import { type Block, enclosing, type Marks, scan, withBlocks } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

interface MarkedDefinition {
  name: FormatName;
  models: string;
  example: string;
  /** What calls stand between, or what that is where some tools may be called. */
  marks: readonly Marks[] | ((tools: readonly ToolDefinition[]) => readonly Marks[]);
  thoughts?: readonly Marks[];
  /** What stands around calls, and means nothing by itself. */
  dropped?: readonly string[];
  /** What closes a block ends an action, and so may be missing. */
  isStopped?: boolean;
  stopTexts?: (tools: readonly ToolDefinition[]) => string[];
  /** The opening mark that is missing where all that is said is a call without it. Default: what closing marks show. */
  missing?(said: string, tools: readonly ToolDefinition[]): string | undefined;
  /** The calls between two marks. */
  calls(text: string, tools: readonly ToolDefinition[], mark: number): ReadCall[];
  render(calls: readonly ToolCall[], tools: readonly ToolDefinition[]): string;
}

/** A format whose calls stand between marks. */
export function markedFormat({ calls, marks, missing, ...definition }: MarkedDefinition): ModelFormat {
  const marksFor = (tools: readonly ToolDefinition[]) => (typeof marks === "function" ? marks(tools) : marks);
  const optionsFor = (tools: readonly ToolDefinition[]): MarkedOptions => ({
    ...definition,
    marks: marksFor(tools),
    calls: (one, mark) => calls(one, tools, mark),
    missing: (said) => missing?.(said, tools),
  });
  return modelFormat({
    ...definition,
    marks: marksFor([]),
    read: (text, tools) => readMarked(text, optionsFor(tools)),
    besideCalls: (text, tools) => besideCalls(text, optionsFor(tools)),
  });
}

interface MarkedOptions extends Pick<MarkedDefinition, "thoughts" | "dropped" | "example" | "isStopped"> {
  marks: readonly Marks[];
  calls: (text: string, mark: number) => ReadCall[];
  missing: (said: string) => string | undefined;
}

/** Reads what stands between marks as calls, and what does not end as one that is not closed. */
function readMarked(text: string, options: MarkedOptions): ReadAction {
  const { example } = options;
  const { reasoning, rest, blocks, calledInThought } = scan(text, options.marks, options);
  const calls = blocks.flatMap((block) => callsOf(block, options));
  if (calledInThought)
    calls.push(
      unreadable("", "the thought is not ended, so that no call in it is made. End it, then call", example),
    );
  const unopened = calls.some((call) => "problem" in call)
    ? undefined
    : (unopenedMark(rest, options.marks) ?? options.missing(rest.trim()));
  if (unopened !== undefined)
    calls.push(unreadable(rest.trim(), `the tool call has no ${unopened}`, example));
  return { reasoning, answer: rest, calls };
}

/** The opening mark that is missing before a closing one, which stands after what looks like the end of a call. */
function unopenedMark(rest: string, marks: readonly Marks[]): string | undefined {
  const missing = marks.find(({ open, close = "" }) => {
    const before = rest.slice(0, close.startsWith("<") ? Math.max(0, rest.indexOf(close)) : 0);
    return /(?:[}\]>]|```)$/.test(before.trimEnd()) && !before.includes(open);
  });
  return missing?.open;
}

function callsOf(
  { mark, text, closed }: Block,
  { calls, example, isStopped = false }: MarkedOptions,
): ReadCall[] {
  return closed || isStopped ? calls(text, mark) : [unreadable(text, "the tool call is not closed", example)];
}

/** What stands between the marks stays if no call in it can be read; if only some can, the text of the others does. */
function besideCalls(text: string, options: MarkedOptions): string {
  const { reasoning, rest, blocks } = scan(text, options.marks, options);
  const said = withBlocks(rest, blocks, (block) => {
    const own = callsOf(block, options);
    const texts = own.flatMap((call) => ("name" in call ? [] : [call.text]));
    return texts.length === own.length ? block.written : texts.join("\n");
  });
  return reasoning === "" ? said : said.trimStart();
}

interface JsonDefinition {
  name: FormatName;
  models: string;
  marks: { open: string; close?: string };
  /** What some models write in place of the marks. */
  others?: readonly Marks[];
  /** How the calls of a list are written between the marks: one each, or all in one list. */
  list: boolean;
  thoughts?: readonly Marks[];
  dropped?: readonly string[];
  keys?: { name: string; arguments: string };
}

/** A format whose calls are JSON between marks. */
export function jsonFormat({
  name,
  models,
  marks,
  others = [],
  list,
  keys,
  ...options
}: JsonDefinition): ModelFormat {
  const { open, close = "" } = marks;
  const { name: nameKey, arguments: argumentsKey } = keys ?? { name: "name", arguments: "arguments" };
  const body = `{"${nameKey}": "…", "${argumentsKey}": {…}}`;
  const example = list ? `${open}[${body}]${close}` : `${open}${body}${close}`;
  const written = (call: ToolCall) => jsonText({ [nameKey]: call.name, [argumentsKey]: call.arguments });
  return markedFormat({
    ...options,
    name,
    models,
    example,
    marks: [enclosing({ ...marks, starts: "{[" }, jsonEnd), ...others],
    calls: (text) => jsonCalls(text.trim(), example),
    render: (calls) =>
      list
        ? `${open}[${calls.map(written).join(", ")}]${close}`
        : calls.map((call) => `${open}\n${written(call)}\n${close}`).join("\n"),
  });
}
