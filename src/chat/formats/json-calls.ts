import { defined } from "../../base/records/defined.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";
import type { ReadCall } from "../../contracts/parsed-action.ts";
import { givenTwice, jsonItems, readJson, shortened } from "./json-text.ts";
import { unreadable } from "./unreadable.ts";

const notJson = "the tool call is not JSON";
const keysOfNames = ["name", "tool_name", "function"];
const keysOfArguments = ["arguments", "parameters"];
const keysOfIds = ["id", "tool_call_id"];
const keysOfCalls = [...keysOfNames, ...keysOfArguments, ...keysOfIds, "type"];

/**
 * The call in a JSON text: `name` and `arguments`, or the names that other formats use. Any other key is a problem.
 */
export function jsonCall(text: string, example: string): ReadCall {
  const { value, wrong } = readJson(text, notJson);
  if (wrong !== undefined) return unreadable(text, wrong, example);
  if (!isObject(value)) return unreadable(text, "the tool call names no tool", example);
  const call = callOf(value);
  return typeof call === "string" ? unreadable(text, call, example) : call;
}

/** The calls in a JSON list, or a single call. */
export function jsonCalls(text: string, example: string): ReadCall[] {
  const isList = text.startsWith("[") && readJson(text, notJson).wrong !== notJson;
  const items = isList ? jsonItems(text) : undefined;
  return (items ?? [text]).map((item) => jsonCall(item, example));
}

/** A call whose name and arguments are written separately. The arguments are a JSON object, or empty. */
export function namedCall(
  { name, id, body }: { name: string; id?: string | undefined; body: string },
  text: string,
  example: string,
): ReadCall {
  const { value, wrong } = readJson(
    body.trim() === "" ? "{}" : body.trim(),
    `the arguments of ${name} are not JSON`,
  );
  if (wrong !== undefined) return unreadable(text, wrong, example);
  if (!isObject(value)) return unreadable(text, `the arguments of ${name} are not an object`, example);
  return defined({ id, name, arguments: value });
}

/** The call that an object represents, or what is wrong with it. */
function callOf(value: JsonObject): Exclude<ReadCall, { problem: string }> | string {
  const inner = isObject(value.function) ? value.function : {};
  const { function: outerFunction, ...outer } = value;
  const twice = Object.keys(inner).find((key) => Object.hasOwn(outer, key));
  if (twice !== undefined) return givenTwice(twice);
  const whole = isObject(outerFunction) ? { ...outer, ...inner } : value;
  const unknown = Object.keys(whole).find((key) => !keysOfCalls.includes(key));
  if (unknown !== undefined) return `"${shortened(unknown)}" is no key of a tool call`;
  const names = given(whole, keysOfNames);
  const [name] = Object.values(names);
  if (typeof name !== "string" || name === "") return "the tool call names no tool";
  if (new Set(Object.values(names)).size > 1) return "the tool call names two tools";
  const [argumentsKey = "arguments", other] = Object.keys(given(whole, keysOfArguments));
  if (other !== undefined) return `the arguments stand both in "${argumentsKey}" and in "${other}"`;
  const found = whole[argumentsKey] ?? {};
  if (!isObject(found)) return `"${argumentsKey}" is not an object`;
  const [id] = Object.values(given(whole, keysOfIds));
  return defined({ id: typeof id === "string" && id !== "" ? id : undefined, name, arguments: found });
}

/** The entries of an object with these keys, except nulls. */
function given(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const one = value[key];
      return one === undefined || one === null ? [] : [[key, one]];
    }),
  );
}
