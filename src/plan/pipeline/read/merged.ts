import { isObject, type JsonObject } from "../../../contracts/json.ts";

/**
 * A value over another one as a merge patch is (RFC 7396): mappings are merged, all else is replaced, null takes away; a mapping that names
 * another plugin, or uses a block, is replaced.
 */
export function merged(base: unknown, over: unknown): unknown {
  if (!isObject(over)) return over;
  const under = isObject(base) && !namesAnother(base, over) ? base : {};
  const all = new Map<string, unknown>(Object.entries(under));
  for (const [key, value] of Object.entries(over)) {
    if (value === null) all.delete(key);
    else all.set(key, merged(all.get(key), value));
  }
  return Object.fromEntries(all);
}

function namesAnother(base: JsonObject, over: JsonObject): boolean {
  if (over.use !== undefined && typeof over.use === "string") return true;
  return over.plugin !== undefined && over.plugin !== base.plugin;
}
