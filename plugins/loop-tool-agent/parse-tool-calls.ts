import type { JsonObject, JsonValue } from "everturn/workflow";

/** A tool call in an action's text, or what is wrong with it, said to the model. */
export type ParsedCall =
  | { name: string; arguments: JsonObject; problem?: undefined }
  | { text: string; problem: string };

const form = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>';

/** Finds the tool calls of an action in Hermes' format, `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. */
export function parseToolCalls(action: string): ParsedCall[] {
  const parts = action.split("<tool_call>").slice(1);
  return parts.map((part) => {
    const end = part.indexOf("</tool_call>");
    if (end < 0) return { text: part, problem: `error: the tool call is not closed. Write ${form}` };
    return parseCall(part.slice(0, end).trim());
  });
}

function parseCall(text: string): ParsedCall {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch {
    return { text, problem: `error: the tool call is not JSON. Write ${form}` };
  }
  if (!isObject(value) || typeof value.name !== "string") {
    return { text, problem: `error: the tool call names no tool. Write ${form}` };
  }
  const parameters = value.arguments ?? {};
  if (!isObject(parameters)) return { text, problem: `error: "arguments" is not an object. Write ${form}` };
  return { name: value.name, arguments: parameters };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
