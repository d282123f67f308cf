import type { FormatName } from "../contracts/format-name.ts";
import type { ToolCall, ToolDefinition } from "../contracts/message.ts";
import type { ReadAction, ReadCall } from "../contracts/parsed-action.ts";
import { type ModelFormat, modelFormat } from "./action-format.ts";
import { jsonCalls } from "./json-calls.ts";
import { jsonEnd, jsonText } from "./json-text.ts";
import { type Block, enclosing, type Marks, scan, withBlocks } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

interface MarkedDefinition {
  name: FormatName;
  models: string;
  example: string;
  marks: readonly Marks[];
  thoughts?: readonly Marks[];
  /** What stands around calls, and means nothing by itself. */
  dropped?: readonly string[];
  /** The calls between two marks. */
  calls(text: string, tools: readonly ToolDefinition[], mark: number): ReadCall[];
  render(calls: readonly ToolCall[], tools: readonly ToolDefinition[]): string;
}

/** A format whose calls stand between marks. */
export function markedFormat({ calls, ...definition }: MarkedDefinition): ModelFormat {
  const optionsFor = (tools: readonly ToolDefinition[]): MarkedOptions => ({
    ...definition,
    calls: (one, mark) => calls(one, tools, mark),
  });
  return modelFormat({
    ...definition,
    read: (text, tools) => readMarked(text, optionsFor(tools)),
    besideCalls: (text, tools) => besideCalls(text, optionsFor(tools)),
  });
}

interface MarkedOptions extends Pick<MarkedDefinition, "marks" | "thoughts" | "dropped" | "example"> {
  calls: (text: string, mark: number) => ReadCall[];
  /** What closes a block ends an action, and so is not in its text. */
  isStopped?: boolean;
}

/** Reads what stands between marks as calls, and what does not end as one that is not closed. */
export function readMarked(text: string, options: MarkedOptions): ReadAction {
  const { example } = options;
  const { reasoning, rest, blocks, calledInThought } = scan(text, options.marks, options);
  const calls = blocks.flatMap((block) => callsOf(block, options));
  if (calledInThought)
    calls.push(
      unreadable("", "the thought is not ended, so that no call in it is made. End it, then call", example),
    );
  return { reasoning, answer: rest, calls };
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
  /** How the calls of a list are written between the marks: one each, or all in one list. */
  list: boolean;
  thoughts?: readonly Marks[];
  dropped?: readonly string[];
  keys?: { name: string; arguments: string };
}

/** A format whose calls are JSON between marks. */
export function jsonFormat({ name, models, marks, list, keys, ...options }: JsonDefinition): ModelFormat {
  const { open, close = "" } = marks;
  const { name: nameKey, arguments: argumentsKey } = keys ?? { name: "name", arguments: "arguments" };
  const body = `{"${nameKey}": "…", "${argumentsKey}": {…}}`;
  const example = list ? `${open}[${body}]${close}` : `${open}${body}${close}`;
  const written = (call: ToolCall) => jsonText({ [nameKey]: call.name, [argumentsKey]: call.arguments });
  return markedFormat({
    ...options,
    ...{ name, models, example, marks: [enclosing(marks, jsonEnd)] },
    calls: (text) => jsonCalls(text.trim(), example),
    render: (calls) =>
      list
        ? `${open}[${calls.map(written).join(", ")}]${close}`
        : calls.map((call) => `${open}\n${written(call)}\n${close}`).join("\n"),
  });
}
