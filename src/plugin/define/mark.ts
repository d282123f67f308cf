import type { PluginManifest } from "../../contracts/generated/plugin.ts";

/** Where a definition says of which kind it is, in every copy of this module. */
const mark = Symbol.for("everturn.definition");

/** Where a tool of several functions has them, as they were defined. */
export const functionsKey = Symbol.for("everturn.functions");

/** The kind of plugin that a value defines; undefined if it is no definition. */
export function definedKind(value: unknown): PluginManifest["kind"] | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  const kind: PluginManifest["kind"] | undefined = Reflect.get(value, mark);
  return kind;
}

/** The value, which defines a plugin of this kind from now on. */
export function marked<Value extends object>(kind: PluginManifest["kind"], value: Value): Value {
  return Object.defineProperty(value, mark, { value: kind });
}
