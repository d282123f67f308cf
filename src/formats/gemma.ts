import type { FormatName } from "../contracts/format-name.ts";
import type { ReadCall } from "../contracts/parsed-action.ts";
import type { ModelFormat } from "./action-format.ts";
import { gemmaArguments, gemmaText } from "./gemma-text.ts";
import { markedFormat } from "./marked-format.ts";
import type { Marks } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

/** Calls with bare names and quotes that are tokens. */
export const gemma4 = gemmaFormat({
  ...{ name: "gemma-4", models: "Gemma 4", open: "<|tool_call>", close: "<tool_call|>", quote: '<|"|>' },
  thoughts: [{ open: "<|channel>thought\n", close: "<channel|>" }],
});

/** The same with tokens of its own. */
export const functionGemma = gemmaFormat({
  ...{ name: "function-gemma", models: "FunctionGemma", quote: "<escape>" },
  ...{ open: "<start_function_call>", close: "<end_function_call>" },
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
    ...{ example, marks: [{ open, close }] },
    calls: (text) => [readCall(text)],
    render: (calls) =>
      calls
        .map(({ name, arguments: given }) => `${open}call:${name}${gemmaText(given, quote)}${close}`)
        .join(""),
  });

  function readCall(text: string): ReadCall {
    const [head, name] = /^call:\s*([^\s{}:]+)/.exec(text) ?? [];
    if (head === undefined || name === undefined)
      return unreadable(text, "the tool call names no function", example);
    const given = gemmaArguments(text.slice(head.length), quote);
    if (typeof given === "string") return unreadable(text, `the tool call can't be read: ${given}`, example);
    return { name, arguments: given };
  }
}
