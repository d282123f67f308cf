import { isObject, type JsonObject } from "../../contracts/json.ts";
import { EndpointProblem, invalid } from "./endpoint-problem.ts";

/** A field of a body with its place. Null counts as absent, because clients write it without meaning. */
export interface Field {
  at: string;
  value: unknown;
}

/** The body of a request. */
export function bodyOf(body: unknown): JsonObject {
  if (isObject(body)) return body;
  throw new EndpointProblem(400, `The body is ${kindOf(body)}: send a JSON object.`);
}

/** A field of the object at `at` ("" for the body). */
export function fieldOf(from: JsonObject, name: string, at = ""): Field {
  return {
    at: at === "" ? name : `${at}.${name}`,
    value: Object.hasOwn(from, name) ? from[name] : undefined,
  };
}

export function isAbsent({ value }: Field): boolean {
  return value === undefined || value === null;
}

export function objectIn({ at, value }: Field): JsonObject {
  if (isObject(value)) return value;
  throw invalid(at, `is ${kindOf(value)}: send an object`);
}

/** The entries of a list, each with its place. */
export function listIn({ at, value }: Field): Field[] {
  if (Array.isArray(value)) return value.map((one, index) => ({ at: `${at}[${index}]`, value: one }));
  throw invalid(at, `is ${kindOf(value)}: send a list`);
}

export function textIn({ at, value }: Field): string {
  if (typeof value === "string") return value;
  throw invalid(at, `is ${kindOf(value)}: send a text`);
}

/** A text that must not be empty. */
export function nameIn(field: Field): string {
  const text = textIn(field);
  if (text === "") throw invalid(field.at, "is empty: send a text of one character or more");
  return text;
}

export function flagIn(field: Field): boolean {
  if (isAbsent(field)) return false;
  if (typeof field.value === "boolean") return field.value;
  throw invalid(field.at, `is ${kindOf(field.value)}: send true or false`);
}

/** A text that must be one of a few words. */
export function wordIn<Word extends string>({ at, value }: Field, words: readonly Word[]): Word {
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw invalid(at, `is ${kindOf(value)}: send ${words.map((one) => `"${one}"`).join(" or ")}`);
}

/** A value's kind, worded for messages. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 60 ? `a ${typeof value} of ${text.length} characters` : text;
}
