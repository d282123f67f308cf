import type { FormatName } from "../../contracts/format-name.ts";
import type { ReadCall } from "../../contracts/parsed-action.ts";
import type { ModelFormat } from "./action-format.ts";
import { gemmaArguments, gemmaText } from "./gemma-text.ts";
import { shortened } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { matchAt } from "./match-at.ts";
import { enclosing, type Marks } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const head = /\s*call:\s*([^\s{}:]+)/y;

/** Calls with bare names and with quotes that are tokens. */
export const gemma4 = gemmaFormat({
  name: "gemma-4",
  models: "Gemma 4",
  open: "<|tool_call>",
  close: "<tool_call|>",
  quote: '<|"|>',
  thoughts: [{ open: "<|channel>thought\n", close: "<channel|>", anywhere: true }],
});

/** The same with other tokens. */
export const functionGemma = gemmaFormat({
  name: "function-gemma",
  models: "FunctionGemma",
  quote: "<escape>",
  open: "<start_function_call>",
  close: "<end_function_call>",
});

function gemmaFormat({
  quote,
  open,
  close,
  ...definition
}: {
  name: FormatName;
  models: string;
  open: string;
  close: string;
  quote: string;
  thoughts?: readonly Marks[];
}): ModelFormat {
  const example = `${open}call:NAME{ARGUMENT:1,OTHER:${quote}text${quote}}${close}`;
  return markedFormat({
    ...definition,
    example,
    marks: [enclosing({ open, close }, callEnd)],
    calls: (text) => [readCall(text)],
    render: (calls) =>
      calls
        .map(({ name, arguments: given }) => `${open}call:${name}${gemmaText(given, quote)}${close}`)
        .join(""),
  });

  function readCall(text: string): ReadCall {
    const { groups: [name] = [], end: start = 0 } = matchAt(head, text, 0) ?? {};
    if (name === undefined) return unreadable(text, "the tool call names no function", example);
    const found = gemmaArguments(text, start, quote);
    if (found.wrong !== undefined) return refused(text, found.wrong);
    const left = text.slice(found.end).trim();
    if (left !== "") return refused(text, `nothing may follow the last "}" at “${shortened(left)}”`);
    return { name, arguments: found.given };
  }

  function refused(text: string, wrong: string): ReadCall {
    return unreadable(text, `the tool call can't be read: ${wrong}`, example);
  }

  function callEnd(text: string, from: number): number {
    const start = matchAt(head, text, from);
    const found = start === undefined ? undefined : gemmaArguments(text, start.end, quote);
    return found === undefined || found.wrong !== undefined ? -1 : found.end;
  }
}
