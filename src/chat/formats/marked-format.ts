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
  /** The marks around calls, or a function that derives them from the callable tools. */
  marks: readonly Marks[] | ((tools: readonly ToolDefinition[]) => readonly Marks[]);
  thoughts?: readonly Marks[];
  /** Texts around calls that have no meaning of their own. */
  dropped?: readonly string[];
  /** The closing mark ends an action and so may be missing. */
  isStopped?: boolean;
  stopTexts?: (tools: readonly ToolDefinition[]) => string[];
  /**
   * The opening mark that is missing where the whole answer is a call without it. Default: derived from the closing
   * marks.
   */
  missing?(said: string, tools: readonly ToolDefinition[]): string | undefined;
  /** Reads the calls between two marks. */
  calls(text: string, tools: readonly ToolDefinition[], mark: number): ReadCall[];
  render(calls: readonly ToolCall[], tools: readonly ToolDefinition[]): string;
}

/** A format whose calls are between marks. */
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

/** Reads the text between marks as calls, and an open mark as a call that is not closed. */
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

/** The opening mark that is missing before a closing one, if the text before that looks like the end of a call. */
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

/** The text between the marks stays if no call in it is readable. If only some are, the text of the others stays. */
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
  /** Alternatives that some models write instead of the marks. */
  others?: readonly Marks[];
  /** Whether several calls share one list between the marks, rather than each having its own marks. */
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
