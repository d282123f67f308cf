import { isObject, type JsonValue } from "../../contracts/json.ts";
import type { ToolDefinition } from "../../contracts/message.ts";
import type { ReadCall } from "../../contracts/parsed-action.ts";
import { jsonCalls } from "./json-calls.ts";
import { jsonEnd, jsonItems, jsonText, spacesEnd } from "./json-text.ts";
import { markedFormat } from "./marked-format.ts";
import { matchAt } from "./match-at.ts";
import { pythonCalls } from "./python-text.ts";
import type { Part } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const tag = "<|python_tag|>";
const example = '{"name": "…", "parameters": {…}}';
const notJson = "the tool call is not JSON";
/** Names that models use for a call's arguments, right or wrong. */
const keysOfArguments = [
  "parameters",
  "arguments",
  "args",
  "params",
  "input",
  "inputs",
  "kwargs",
  "tool_input",
];

/**
 * Bare JSON after a token or after an answer, with `;` between several calls or all in a list; or a built-in
 * function's `name.call(…)`.
 */
export const llama3Json = markedFormat({
  name: "llama3-json",
  models: "Llama 3.1, 3.2 and 3.3",
  example,
  marks: (tools) => [
    { open: tag, read: readTagged },
    { open: "{", read: (text, at) => readObject(text, at, tools), bare: true },
    { open: "[", read: (text, at) => readList(text, at, tools), bare: true },
  ],
  calls: (text) => (isJson(text, 0) ? jsonCalls(text, example) : builtInCalls(text)),
  render: (calls) =>
    calls.map(({ name, arguments: given }) => jsonText({ name, parameters: given })).join("; "),
});

/** Anything after the token is a call, whatever its form. */
function readTagged(text: string, at: number): Part {
  const from = spacesEnd(text, at + tag.length);
  if (isJson(text, from)) {
    const end = jsonEnd(text, from);
    return end < 0 ? toEnd(text, from) : { from, end, next: callEnd(text, end), closed: true };
  }
  const { calls, end } = pythonCalls(text, from);
  return calls.some((call) => "problem" in call) ? toEnd(text, from) : { from, end, next: end, closed: true };
}

/** An object that begins a line or follows another one is a call if it has the form of one. */
function readObject(text: string, at: number, tools: readonly ToolDefinition[]): Part | undefined {
  const rest = (to: number): Part => ({ from: at, end: to, next: to, closed: true, isRest: true });
  const before = text.slice(Math.max(0, at - 100), at);
  const begins = at === 0 || /(?:\n|\}\s*[;,]?\s*)$/.test(before);
  if (!begins || !/^\{\s*"/.test(text.slice(at, at + 100))) return rest(at + 1);
  const end = jsonEnd(text, at);
  if (end < 0) return looksCalled(text.slice(at), tools) ? toEnd(text, at) : undefined;
  if (!isCall(text.slice(at, end), tools)) return rest(end);
  return { from: at, end, next: callEnd(text, end), closed: true };
}

/**
 * A list that begins a line contains calls if one of its objects has the form of one. Within a line it is part of
 * the answer.
 */
function readList(text: string, at: number, tools: readonly ToolDefinition[]): Part | undefined {
  const rest = (to: number): Part => ({ from: at, end: to, next: to, closed: true, isRest: true });
  const first = matchAt(/\[\s*(?=\{\s*")/y, text, at);
  if (first === undefined) return rest(at + 1);
  const begins = /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, at - 100), at));
  const end = jsonEnd(text, at);
  if (end < 0) return begins && looksCalled(text.slice(first.end), tools) ? toEnd(text, at) : undefined;
  const items = jsonItems(text.slice(at, end)) ?? [];
  if (!begins || !items.some((item) => isCall(item, tools))) return rest(end);
  return { from: at, end, next: callEnd(text, end), closed: true };
}

/** Whether an object, or a list of objects, begins here. */
function isJson(text: string, at: number): boolean {
  return matchAt(/\{|\[\s*\{/y, text, at) !== undefined;
}

function toEnd(text: string, from: number): Part {
  return { from, end: text.length, next: text.length, closed: true };
}

/** Where a call ends, including the separator before the next one. */
function callEnd(text: string, end: number): number {
  const next = spacesEnd(text, end, ",;");
  return next === text.length || text[next] === "{" || text.startsWith(tag, next) ? next : end;
}

function builtInCalls(text: string): ReadCall[] {
  const { calls } = pythonCalls(text);
  if (calls.length === 0 || calls.some((call) => "problem" in call))
    return [unreadable(text, notJson, example)];
  return calls.map((call) => ("name" in call ? { ...call, name: call.name.replace(/\.call$/, "") } : call));
}

/** Whether an object has the form of a call, or calls a tool in another form. Other objects are answers. */
function isCall(text: string, tools: readonly ToolDefinition[]): boolean {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return looksCalled(text, tools);
  }
  if (!isObject(value)) return false;
  const { name, type, function: called } = value;
  const keys = Object.keys(value);
  if ([name, called, isObject(called) ? called.name : undefined].some((one) => isTool(one, tools)))
    return true;
  if (!keys.some((key) => keysOfArguments.includes(key))) return type === "function" && isObject(called);
  const isForm = keys.every((key) => ["name", "type", ...keysOfArguments].includes(key));
  return isForm || Object.values(value).some((one) => isTool(one, tools));
}

/** The same for a text that is not JSON. */
function looksCalled(text: string, tools: readonly ToolDefinition[]): boolean {
  const [, name] =
    /^\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"(?:name|function)"\s*:\s*"([^"\\]*)"/.exec(text) ?? [];
  return isTool(name, tools) || (name !== undefined && /"(?:parameters|arguments)"\s*:/.test(text));
}

function isTool(name: JsonValue | undefined, tools: readonly ToolDefinition[]): boolean {
  return tools.some((tool) => tool.name === name);
}
