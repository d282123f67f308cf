import type { JsonObject, JsonValue } from "everturn/plugin";

/** The maximum characters of a parameter's value on a server. */
const longest = 6000;

/** Converts settings to MLflow's parameters: texts by dotted key. */
export function flatSettings(settings: JsonObject): { key: string; value: string }[] {
  return leaves(settings, "").map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return { key: key.replace(/[^\w\-./ ]/g, "_").slice(0, 250), value: text.slice(0, longest) };
  });
}

function leaves(value: JsonValue, path: string): [string, JsonValue][] {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) return [[path, value]];
  return entries.flatMap(([key, one]) => leaves(one, path === "" ? key : `${path}.${key}`));
}
