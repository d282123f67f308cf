import type { JsonObject, JsonValue, ScoreRequest } from "everturn/plugin";
import { type Form, isObject, scoreFrom } from "./form.ts";
import { messagesOf } from "./messages.ts";

/** The configured form: a body with placeholders, and the place of the score in the answer. */
export function jsonForm({ body, answer }: JsonObject): Form {
  const places = isObject(answer) ? answer : {};
  return {
    bodyOf: (request) => filledObject(isObject(body) ? body : {}, knownOf(request)),
    scoreOf: (answered, solvedFrom) => {
      const at = (name: string) => valueAt(answered, String(places[name] ?? name));
      const missing = at("missing");
      if (missing === true) return { missing: "the server has no score" };
      if (typeof missing === "string" && missing !== "") return { missing };
      return scoreFrom(at("reward"), { success: at("success"), metrics: at("metrics") }, solvedFrom);
    },
  };
}

/** The values that a body may name with $. */
function knownOf({ task, turns, outcome, answer }: ScoreRequest): JsonObject {
  return JSON.parse(JSON.stringify({ task, turns, outcome, answer, messages: messagesOf({ task, turns }) }));
}

function filledObject(body: JsonObject, known: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, filled(value, known)]));
}

function filled(value: JsonValue, known: JsonObject): JsonValue {
  if (typeof value === "string" && value.startsWith("$")) return valueAt(known, value.slice(1)) ?? null;
  if (Array.isArray(value)) return value.map((item) => filled(item, known));
  return isObject(value) ? filledObject(value, known) : value;
}

/** The value at keys separated by dots. Items of a list have numbers. */
function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const key of path.split(".")) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Object.entries(current).find(([name]) => name === key)?.[1];
  }
  return current;
}
