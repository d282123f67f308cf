import { isObject, type JsonValue } from "../contracts/json.ts";
import type { ReadCall } from "../contracts/parsed-action.ts";
import { jsonOf } from "./json-text.ts";
import { unreadable } from "./unreadable.ts";

/** The call in a JSON text: `name` and `arguments`, or what other formats call them. */
export function jsonCall(text: string, example: string): ReadCall {
  const value = jsonOf(text);
  return value === undefined
    ? unreadable(text, "the tool call is not JSON", example)
    : callOf(value, text, example);
}

/** The call that a JSON value is. */
export function callOf(value: JsonValue, text: string, example: string): ReadCall {
  if (!isObject(value)) return unreadable(text, "the tool call names no tool", example);
  const whole = isObject(value.function) ? { ...value, ...value.function } : value;
  const name = [whole.name, whole.tool_name, whole.function].find((one) => typeof one === "string");
  if (typeof name !== "string") return unreadable(text, "the tool call names no tool", example);
  const key = ["arguments", "parameters"].find((one) => whole[one] !== undefined && whole[one] !== null);
  const given = key === undefined ? {} : whole[key];
  const id = [whole.id, whole.tool_call_id].find((one) => typeof one === "string");
  if (!isObject(given)) return unreadable(text, `"${key}" is not an object`, example);
  return { ...(typeof id === "string" && id !== "" ? { id } : {}), name, arguments: given };
}

/** The calls of a JSON list of them, or of one alone. */
export function jsonCalls(text: string, example: string): ReadCall[] {
  const value = jsonOf(text);
  if (value === undefined) return [unreadable(text, "the tool call is not JSON", example)];
  return (Array.isArray(value) ? value : [value]).map((one) => callOf(one, JSON.stringify(one), example));
}
