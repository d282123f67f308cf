import { isObject, type JsonValue } from "../contracts/json.ts";
import type { ToolDefinition } from "../contracts/message.ts";
import type { ReadAction, ReadCall } from "../contracts/parsed-action.ts";
import { modelFormat } from "./action-format.ts";
import { jsonCall } from "./json-calls.ts";
import { jsonEnd, jsonText, spacesEnd } from "./json-text.ts";
import { pythonCalls } from "./python-text.ts";
import { scan } from "./scan.ts";
import { unreadable } from "./unreadable.ts";

const tag = "<|python_tag|>";
const example = '{"name": "…", "parameters": {…}}';
const notJson = "the tool call is not JSON";
/** What models call the arguments of a call, right or wrong. */
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

/** JSON alone, `;` between several calls, after a token or after what is said; or a built-in function's `name.call(…)`. */
export const llama3Json = modelFormat({
  name: "llama3-json",
  models: "Llama 3.1, 3.2 and 3.3",
  example,
  read: readLlama,
  render: (calls) =>
    calls.map(({ name, arguments: given }) => jsonText({ name, parameters: given })).join("; "),
});

function readLlama(text: string, tools: readonly ToolDefinition[]): ReadAction {
  const { reasoning, rest: whole } = scan(text, []);
  const tagged = whole.indexOf(tag);
  if (tagged < 0) return { reasoning, ...readObjects(whole, tools) };
  const said = whole.slice(0, tagged);
  const body = whole.slice(tagged).replaceAll(tag, " ").trim();
  if (body.startsWith("{")) {
    const { answer, calls } = readObjects(body);
    return {
      reasoning,
      answer: said + answer,
      calls: calls.length > 0 ? calls : [unreadable(body, notJson, example)],
    };
  }
  const { calls, end } = pythonCalls(body);
  const named = calls.map((call) =>
    "name" in call ? { ...call, name: call.name.replace(/\.call$/, "") } : call,
  );
  if (named.length > 0 && named.every((call) => "name" in call))
    return { reasoning, answer: said + body.slice(end), calls: named };
  return { reasoning, answer: said, calls: [unreadable(body, notJson, example)] };
}

/**
 * The calls among the objects that begin lines, or follow each other; the rest is answer. Without `tools` each is a call: the token
 * before them says so.
 */
function readObjects(text: string, tools?: readonly ToolDefinition[]): { answer: string; calls: ReadCall[] } {
  const calls: ReadCall[] = [];
  let answer = "";
  let at = 0;
  for (let left = 2 * text.length; ; ) {
    const start = left < 0 ? -1 : objectStart(text, at);
    if (start < 0) return { answer: answer + text.slice(at), calls };
    const found = jsonEnd(text, start);
    left -= (found < 0 ? text.length : found) - start;
    const object = text.slice(start, found < 0 ? undefined : found);
    const between = text.slice(at, start);
    answer += calls.length > 0 && /^[\s;,]*$/.test(between) ? "" : between;
    at = start + object.length;
    if (tools === undefined || isCall(object, tools)) calls.push(jsonCall(object, example));
    else {
      const line = found < 0 ? object.slice(0, object.indexOf("\n") + 1) : "";
      answer += line === "" ? object : line;
      if (line !== "") at = start + line.length;
    }
  }
}

/** Where the next object begins: at the beginning of a line, or after `;`, `,` or another object. */
function objectStart(text: string, at: number): number {
  const next = spacesEnd(text, at, ",;");
  if (at > 0 && text[next] === "{") return next;
  const line = /^\{[ \t\r\n]*"/gm;
  line.lastIndex = at;
  return line.exec(text)?.index ?? -1;
}

/** Whether an object is written as a call is, or calls a tool in another way; others are answers. */
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

/** The same for a text that is no JSON. */
function looksCalled(text: string, tools: readonly ToolDefinition[]): boolean {
  const [, name] =
    /^\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"(?:name|function)"\s*:\s*"([^"\\]*)"/.exec(text) ?? [];
  return isTool(name, tools) || (name !== undefined && /"(?:parameters|arguments)"\s*:/.test(text));
}

function isTool(name: JsonValue | undefined, tools: readonly ToolDefinition[]): boolean {
  return tools.some((tool) => tool.name === name);
}
