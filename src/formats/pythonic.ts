import type { FormatName } from "../contracts/format-name.ts";
import type { ToolCall } from "../contracts/message.ts";
import type { ReadAction, ReadCall } from "../contracts/parsed-action.ts";
import { type ModelFormat, modelFormat } from "./action-format.ts";
import { markedFormat } from "./marked-format.ts";
import { pythonCalls, pythonText } from "./python-text.ts";
import { scan } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const example = '[NAME(ARGUMENT=1, OTHER="text")]';
const list = (calls: readonly ToolCall[]) =>
  `[${calls.map(({ name, arguments: given }) => pythonText(name, given)).join(", ")}]`;

/** A Python list of calls on a line of its own, between tokens in Llama 4. */
export const pythonic = modelFormat({
  name: "pythonic",
  models: "Llama 3.2 (1B, 3B) and 4, ToolACE",
  example,
  read: readList,
  render: list,
});

/** The same list between LFM's tokens. */
export const lfm2 = betweenMarks(
  "lfm2",
  "LFM 2 and 2.5",
  { open: "<|tool_call_start|>", close: "<|tool_call_end|>" },
  list,
);

/** Calls in a fence, one a line. */
export const gemma3 = betweenMarks(
  "gemma-3",
  "Gemma 3",
  { open: "```tool_code\n", close: "```" },
  (calls) => `${calls.map(({ name, arguments: given }) => pythonText(name, given)).join("\n")}\n`,
);

function readList(text: string): ReadAction {
  const dropped = ["<|python_start|>", "<|python_end|>", "<|python_tag|>"];
  const { reasoning, rest } = scan(text, [], { dropped });
  const start = rest.search(/^[ \t]*\[\s*[\p{L}_][\p{L}\p{N}_.-]*\s*\(/mu);
  if (start < 0) return { reasoning, answer: rest, calls: [] };
  const { calls, end } = explained(rest, start);
  return { reasoning, answer: rest.slice(0, start) + rest.slice(end), calls };
}

function betweenMarks(
  name: FormatName,
  models: string,
  { open, close }: { open: string; close: string },
  write: (calls: readonly ToolCall[]) => string,
): ModelFormat {
  const written = `${open}${write([{ name: "NAME", arguments: { ARGUMENT: 1 } }])}${close}`;
  return markedFormat({
    ...{ name, models, example: written, marks: [{ open, close }] },
    calls: (text) => {
      const [print] = /^print\s*\(/.exec(text) ?? [];
      const body = print !== undefined && text.endsWith(")") ? text.slice(print.length, -1) : text;
      const { calls, end } = explained(body, 0, written);
      const left = body.slice(end).trim();
      return left === "" && calls.length > 0
        ? calls
        : [...calls, unreadable(left, "the tool call can't be read", written)];
    },
    render: (calls) => `${open}${write(calls)}${close}`,
  });
}

/** Calls, and what is wrong with the one that can't be read. */
function explained(text: string, from: number, how = example): { calls: ReadCall[]; end: number } {
  const { calls, end } = pythonCalls(text, from);
  const told = calls.map((call) =>
    "problem" in call ? unreadable(call.text, `the tool call can't be read: ${call.problem}`, how) : call,
  );
  return { calls: told, end };
}
