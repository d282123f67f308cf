import {
  InexactNumberError,
  isObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  type Task,
} from "everturn/plugin";
import type { Allowed } from "./matched-calls.ts";

/** What is right for a task: these calls, no call if the list is empty, or any call at all. */
export interface Accepted {
  calls: Allowed[] | "any";
  functions: JsonObject[];
}

/**
 * Reads `reward_model`: the calls in `ground_truth`, as JSON, and the optional descriptions of functions in
 * `functions`. Returns a text that describes the problem if it can't.
 */
export function acceptedCalls({ reward_model: { ground_truth, functions = [] } }: Task): Accepted | string {
  if (!Array.isArray(functions) || !functions.every(isObject))
    return "reward_model.functions of the task is not a list of functions";
  if (ground_truth === "any") return { calls: "any", functions };
  const list = parsed(ground_truth);
  if (list instanceof InexactNumberError) return `reward_model.ground_truth of the task: ${list.message}`;
  if (!Array.isArray(list))
    return 'reward_model.ground_truth of the task is neither a list of calls nor "any"';
  const calls = list.map(callOf);
  return calls.every((call) => call !== undefined)
    ? { calls, functions }
    : 'a call in reward_model.ground_truth of the task is not {"NAME": {"ARGUMENT": [VALUES]}}';
}

function callOf(one: unknown): Allowed | undefined {
  const [[name, values] = [], ...others] = isObject(one) ? Object.entries(one) : [];
  if (name === undefined || !isObject(values) || others.length > 0) return undefined;
  const entries = Object.entries(values);
  if (!entries.every((entry): entry is [string, JsonValue[]] => Array.isArray(entry[1]))) return undefined;
  return { name, values: new Map(entries) };
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    return error instanceof InexactNumberError ? error : undefined; // the caller reports it
  }
}
