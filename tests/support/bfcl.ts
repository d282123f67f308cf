import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { isObject, type JsonObject, type JsonValue } from "../../src/contracts/json.ts";

/** A task of the Berkeley Function Calling Leaderboard: for each parameter of a call, the values that are accepted, "" if it may be left out. */
export interface BfclTask {
  id: string;
  functions: { name: string; description: string; parameters: JsonObject }[];
  accepted: Record<string, Record<string, JsonValue[]>>[];
}

/** A row as published, the prompt that BFCL's own code makes of some, and what its checker says of answers (scripts/make-bfcl-fixtures.py). */
export interface BfclAnswers {
  category: string;
  row: JsonObject;
  answer: JsonObject | null;
  system?: string;
  checked: [text: string, valid: boolean][];
}

export function bfclTasks(): BfclTask[] {
  return linesOf("functions.jsonl.gz").map((line): BfclTask => JSON.parse(line));
}

export function bfclAnswers(): BfclAnswers[] {
  return linesOf("answers.jsonl.gz").map((line): BfclAnswers => JSON.parse(line));
}

function linesOf(name: string): string[] {
  const file = join(import.meta.dirname, "..", "fixtures", "bfcl", name);
  return gunzipSync(readFileSync(file)).toString("utf8").trim().split("\n");
}

const types: Record<string, string> = { dict: "object", float: "number", tuple: "array" };

/** Their parameters as JSON Schema: Python's names of types, and no argument that is not named. */
export function translated(given: JsonObject): JsonObject {
  const { type, properties, items, default: _, optional: __, ...rest } = given;
  const own = typeof type === "string" && type !== "any" ? { type: types[type] ?? type } : {};
  return {
    ...rest,
    ...own,
    ...(isObject(properties) && {
      additionalProperties: false,
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, isObject(one) ? translated(one) : {}]),
      ),
    }),
    ...(isObject(items) && { items: translated(items) }),
  };
}

/** Calls that are accepted: all first values, then each other value in the place of its first. */
export function acceptedArguments(accepted: Record<string, JsonValue[]>): JsonObject[] {
  const first = plainOf(accepted);
  const others = Object.entries(accepted).flatMap(([name, values]) =>
    values
      .slice(1)
      .map((value) => (value === "" ? without(first, name) : { ...first, [name]: plain(value) })),
  );
  return [first, ...others];
}

function plainOf(accepted: Record<string, JsonValue[]>): JsonObject {
  const entries = Object.entries(accepted).flatMap(([name, values]): [string, JsonValue][] => {
    const value = values.find((one) => one !== "");
    return value === undefined ? [] : [[name, plain(value)]];
  });
  return Object.fromEntries(entries);
}

/** In an object each value is a list of those that are accepted, too. */
function plain(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  const lists = Object.entries(value).filter((entry): entry is [string, JsonValue[]] =>
    Array.isArray(entry[1]),
  );
  return plainOf(Object.fromEntries(lists));
}

function without(given: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = given;
  return rest;
}
