import { mergePatch } from "../../base/records/merge-patch.ts";
import type { PluginManifest } from "../../contracts/generated/plugin.ts";
import { isObject, type JsonObject } from "../../contracts/json.ts";

/** A plugin that a pipeline names by an alias: its own name, and the options that the alias sets. */
export interface Aliased {
  readonly of: string;
  readonly preset: JsonObject;
}

/** A manifest under one of its plugin's names. */
export interface NamedManifest {
  readonly manifest: PluginManifest;
  /** Absent under the plugin's own name. */
  readonly alias?: Aliased;
}

/**
 * Returns a plugin's manifest under the name that a pipeline uses. Under an alias, the manifest has that name,
 * and its configuration lacks the options that the alias sets. It then reads like the manifest of a separate
 * plugin.
 */
export function manifestAs(manifest: PluginManifest, name: string): NamedManifest {
  const { aliases = [], ...own } = manifest;
  const alias = aliases.find((one) => one.name === name);
  if (alias === undefined) return { manifest };
  const { preset = {}, config = {} } = alias;
  const schema = mergePatch(without(own.config ?? { type: "object" }, Object.keys(preset)), config);
  return { manifest: { ...own, name, config: schema }, alias: { of: manifest.name, preset } };
}

/** An object's schema without some properties. Drops its examples, which may contain them. */
function without(schema: JsonObject, keys: readonly string[]): JsonObject {
  const { properties, required, examples: _, ...rest } = schema;
  const kept = Object.entries(isObject(properties) ? properties : {}).filter(([key]) => !keys.includes(key));
  const wanted = (Array.isArray(required) ? required : []).filter((key) => !keys.includes(String(key)));
  return { ...rest, properties: Object.fromEntries(kept), required: wanted };
}
