import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject, type JsonValue } from "everturn/plugin";

type Kind = "string" | "integer" | "float" | "boolean" | "list" | "object" | "null";

/** The names of types in a function's description: Python's and JSON Schema's. */
const described: Readonly<Record<string, Kind>> = {
  string: "string",
  any: "string",
  integer: "integer",
  float: "float",
  number: "float",
  boolean: "boolean",
  array: "list",
  tuple: "list",
  dict: "object",
  object: "object",
};

/**
 * Whether an argument's value is accepted. Texts are compared without case, spaces and `,./-_*^`, and objects
 * entry by entry. Follows `ast_checker` of the Berkeley Function Calling Leaderboard, including its single
 * level of nested types.
 */
export function isAccepted(value: JsonValue, accepted: readonly JsonValue[], parameter: JsonObject): boolean {
  const known = kindOf(accepted.find((one) => one !== "") ?? null);
  const expected = described[String(parameter.type)] ?? known;
  const items = isObject(parameter.items) ? described[String(parameter.items.type)] : undefined;
  if (!fits(value, accepted, expected, known)) return false;
  // A value of another type than described stands for a variable's name, which must match exactly.
  if (expected !== known) return accepted.some((one) => isDeepStrictEqual(one, value));
  if (isObject(value)) return accepted.some((one) => isObject(one) && isObjectAccepted(value, one));
  if (!Array.isArray(value)) return accepted.some((one) => isDeepStrictEqual(standard(one), standard(value)));
  const lists = accepted.filter((one) => Array.isArray(one));
  if (expected === "list" && items === "object") return lists.some((one) => areObjectsAccepted(value, one));
  if (items !== undefined && !lists.some((one) => value.every((item) => isItem(item, one, items))))
    return false;
  return lists.some((one) => isDeepStrictEqual(one.map(standard), value.map(standard)));
}

function fits(value: JsonValue, accepted: readonly JsonValue[], expected: Kind, known: Kind): boolean {
  const kind = kindOf(value);
  if (kind === expected || (expected === "float" && kind === "integer")) return true;
  return accepted.some((one) => one !== "") && kind === known;
}

function isItem(item: JsonValue, list: readonly JsonValue[], expected: Kind): boolean {
  return fits(item, list, expected, kindOf(list.find((one) => one !== "") ?? null));
}

function isObjectAccepted(value: JsonObject, accepted: JsonObject): boolean {
  const lists = new Map(
    Object.entries(accepted).map(([key, one]) => [key, Array.isArray(one) ? one : [one]]),
  );
  const right = Object.entries(value).every(([key, one]) =>
    lists.get(key)?.some((other) => isDeepStrictEqual(standard(other), standard(one))),
  );
  return right && [...lists].every(([key, some]) => key in value || some.includes(""));
}

function areObjectsAccepted(list: readonly JsonValue[], accepted: readonly JsonValue[]): boolean {
  return (
    list.length === accepted.length &&
    list.every((item, index) => {
      const one = accepted[index];
      return isObject(item) && isObject(one) && isObjectAccepted(item, one);
    })
  );
}

function standard(value: JsonValue | undefined): JsonValue | undefined {
  if (value === 0) return 0; // also for -0
  if (typeof value !== "string") return value;
  return value
    .replace(/[ ,./\-_*^]/g, "")
    .toLowerCase()
    .replaceAll("'", '"');
}

function kindOf(value: JsonValue): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "float";
  if (typeof value === "object") return "object";
  return typeof value === "string" ? "string" : "boolean";
}
