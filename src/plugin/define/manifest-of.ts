import { basename, extname } from "node:path";
import { defined } from "../../base/records/defined.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";
import type { Definition } from "./inspection.ts";

/**
 * Properties of a definition that belong at the top of a manifest. A tool's or a reward's other properties
 * belong in its block.
 */
const own = ["version", "config", "capabilities"];

/**
 * Converts the definition in `file` to a manifest, without checking it. `schemas` are its schemas that were
 * built with a library.
 */
export function manifestOf(
  { kind, said, functions }: Definition,
  schemas: Record<string, JsonObject>,
  file: string,
): JsonObject {
  const entries = Object.entries(withSchemas(said, schemas));
  const top = entries.filter(([key]) => own.includes(key));
  const { name, ...block } = Object.fromEntries(entries.filter(([key]) => !own.includes(key)));
  const entry = `./${basename(file)}`;
  return {
    name: nameOf(kind, name, file),
    kind,
    version: "0.0.0",
    engines: { everturn: "*" },
    ...(kind === "loop" ? { workflow: entry } : { entry }),
    ...Object.fromEntries(top),
    ...blockOf(kind, defined({ name, ...block }), functions),
  };
}

function blockOf(kind: PluginManifest["kind"], block: JsonObject, functions: string[]): JsonObject {
  const { name: _, ...rest } = block;
  if (kind === "tool")
    return { tool: defined({ stateful: functions.includes("create") ? true : undefined, ...block }) };
  return kind === "reward" ? { reward: rest } : rest;
}

/**
 * `<kind>-<name>`. A tool's name may have letters that a plugin's name may not. A definition without a name
 * gets the file's.
 */
function nameOf(kind: string, name: unknown, file: string): string {
  const isOwn = typeof name === "string" && kind !== "tool";
  const text = typeof name === "string" ? name : basename(file, extname(file));
  const plain = isOwn
    ? text
    : text
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, "-")
        .replace(/^-+|-+$/g, "");
  return plain.startsWith(`${kind}-`) ? plain : `${kind}-${plain}`.slice(0, isOwn ? undefined : 63);
}

/** Puts schemas at the places that names with / lead to. */
function withSchemas(said: JsonObject, schemas: Record<string, JsonObject>): JsonObject {
  const whole = structuredClone(said);
  for (const [path, schema] of Object.entries(schemas)) {
    const keys = path.split("/");
    const last = keys.pop() ?? "";
    let inner: JsonValue | undefined = whole;
    for (const key of keys) inner = isObject(inner) ? inner[key] : undefined;
    if (isObject(inner)) inner[last] = schema;
  }
  return whole;
}
