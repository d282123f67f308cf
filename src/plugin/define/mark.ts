import type { PluginManifest } from "../../contracts/generated/plugin.ts";

/** The property that holds the kind of a definition. Every copy of this module uses the same symbol. */
const mark = Symbol.for("everturn.definition");

/** The property that holds the functions of a toolset as they were defined. */
export const functionsKey = Symbol.for("everturn.functions");

/** Returns the kind of plugin that a value defines. Undefined if it is not a definition. */
export function definedKind(value: unknown): PluginManifest["kind"] | undefined {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return undefined;
  const kind: PluginManifest["kind"] | undefined = Reflect.get(value, mark);
  return kind;
}

/** Marks a value as the definition of a plugin of this kind, and returns it. */
export function marked<Value extends object>(kind: PluginManifest["kind"], value: Value): Value {
  return Object.defineProperty(value, mark, { value: kind });
}
