import type { FormatName } from "../../contracts/format-name.ts";
import type { ToolCall, ToolDefinition } from "../../contracts/message.ts";
import type { ReadCall } from "../../contracts/parsed-action.ts";
import type { ModelFormat } from "./action-format.ts";
import { spacesEnd } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { matchAt } from "./match-at.ts";
import { pythonCalls, pythonText } from "./python-text.ts";
import { enclosing, type Part } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const example = '[NAME(ARGUMENT=1, OTHER="text")]';
const list = (calls: readonly ToolCall[]) =>
  `[${calls.map(({ name, arguments: given }) => pythonText(name, given)).join(", ")}]`;

/** A Python list of calls on its own line, between tokens in Llama 4. */
export const pythonic = markedFormat({
  name: "pythonic",
  models: "Llama 3.2 (1B, 3B) and 4, ToolACE",
  example,
  marks: (tools) => [{ open: "[", read: (text, at) => readList(text, at, tools), bare: true }],
  dropped: ["<|python_start|>", "<|python_end|>", "<|python_tag|>"],
  missing: (said, tools) => (isUnlisted(said, tools) ? "[" : undefined),
  calls: (text) => explained(text).calls,
  render: list,
});

/** The same list between LFM's tokens. */
export const lfm2 = betweenMarks(
  "lfm2",
  "LFM 2 and 2.5",
  { open: "<|tool_call_start|>", close: "<|tool_call_end|>" },
  list,
);

/** Calls in a fence, one per line. */
export const gemma3 = betweenMarks(
  "gemma-3",
  "Gemma 3",
  { open: "```tool_code\n", close: "```" },
  (calls) => `${calls.map(({ name, arguments: given }) => pythonText(name, given)).join("\n")}\n`,
);

function readList(text: string, at: number, tools: readonly ToolDefinition[]): Part | undefined {
  const rest = (to: number): Part => ({ from: at, end: to, next: to, closed: true, isRest: true });
  const begins = /(?:^|\n|\|>)[ \t]*$/.test(text.slice(Math.max(0, at - 100), at));
  const first = begins ? matchAt(/\[\s*([\p{L}_][\p{L}\p{N}_.-]*)\s*\(/uy, text, at) : undefined;
  if (first === undefined) return rest(at + 1);
  const { calls, end } = pythonCalls(text, at);
  const isRead = calls.every((call) => "name" in call);
  if (
    !isMeant(calls, { first: first.groups[0], inside: text.slice(first.end), after: text.slice(end) }, tools)
  )
    return isRead ? rest(end) : undefined;
  return { from: at, end, next: end, closed: true };
}

/**
 * Whether a list contains calls: a link or a list comprehension in an answer begins the same way. If other words
 * share its line, or it is unreadable, it must name tools. If no tools are known, it needs named arguments in its
 * first call.
 */
function isMeant(
  calls: readonly ReadCall[],
  { first, inside, after }: { first: string | undefined; inside: string; after: string },
  tools: readonly ToolDefinition[],
): boolean {
  const names = calls.flatMap((call) => ("name" in call ? [call.name] : []));
  const isTool = (name: string | undefined) => tools.some((tool) => tool.name === name);
  if (/^[([:]/.test(after)) return false;
  if (names.length === calls.length) return /^[ \t]*(?:\r?\n|<\||$)/.test(after) || names.every(isTool);
  if (names.some(isTool) || isTool(first)) return true;
  return (
    tools.length === 0 && names.length === 0 && /^\s*(?:\)|[\p{L}_][\p{L}\p{N}_]*\s*=(?!=))/u.test(inside)
  );
}

/** Whether a text consists only of calls of tools, without a list. */
function isUnlisted(text: string, tools: readonly ToolDefinition[]): boolean {
  const { calls, end } = pythonCalls(text);
  const areTools = calls.every((call) => "name" in call && tools.some(({ name }) => name === call.name));
  return calls.length > 0 && areTools && end === text.length;
}

function betweenMarks(
  name: FormatName,
  models: string,
  { open, close }: { open: string; close: string },
  write: (calls: readonly ToolCall[]) => string,
): ModelFormat {
  const written = `${open}${write([{ name: "NAME", arguments: { ARGUMENT: 1 } }])}${close}`;
  const opens = open.endsWith("\n") ? [open, open.replace("\n", "\r\n")] : [open];
  return markedFormat({
    name,
    models,
    example: written,
    marks: opens.map((one) => enclosing({ open: one, close }, callsEnd)),
    calls: (block) => {
      const text = block.trim();
      const [print] = /^print\s*\(/.exec(text) ?? [];
      const body = print !== undefined && text.endsWith(")") ? text.slice(print.length, -1) : text;
      const { calls, end } = explained(body, written);
      const left = body.slice(end).trim();
      return left === "" && calls.length > 0
        ? calls
        : [...calls, unreadable(left, "the tool call can't be read", written)];
    },
    render: (calls) => `${open}${write(calls)}${close}`,
  });
}

/** Where readable calls end, including a `print(…)` around them. */
function callsEnd(text: string, from: number): number {
  const print = matchAt(/\s*print\s*\(/y, text, from);
  const { calls, end } = pythonCalls(text, print?.end ?? from);
  if (calls.some((call) => "problem" in call)) return -1;
  const closing = spacesEnd(text, end);
  if (print === undefined) return end;
  return text[closing] === ")" ? closing + 1 : -1;
}

/** Reads calls, and explains what is wrong with the unreadable one. */
function explained(text: string, how = example): { calls: ReadCall[]; end: number } {
  const { calls, end } = pythonCalls(text);
  const told = calls.map((call) =>
    "problem" in call ? unreadable(call.text, `the tool call can't be read: ${call.problem}`, how) : call,
  );
  return { calls: told, end };
}
