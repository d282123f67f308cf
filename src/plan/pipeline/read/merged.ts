import { isObject, type JsonObject } from "../../../contracts/json.ts";

/**
 * Applies a value to another one as a JSON merge patch (RFC 7396): mappings merge, null removes a key, and
 * all other values replace. A mapping that names a different plugin or uses a block replaces the other one.
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
