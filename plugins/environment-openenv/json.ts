import type { JsonObject } from "everturn/plugin";

export type { JsonObject, JsonValue } from "everturn/plugin";

/** Whether a value from a server is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
