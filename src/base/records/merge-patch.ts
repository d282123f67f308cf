import { isObject, type JsonObject } from "../../contracts/json.ts";

/**
 * Applies a JSON merge patch (RFC 7396): mappings are merged, other values replace, null removes. A mapping also
 * replaces where `replaces` returns true.
 */
export function mergePatch(
  base: JsonObject,
  patch: JsonObject,
  replaces: (base: JsonObject, patch: JsonObject) => boolean = () => false,
): JsonObject {
  const all = new Map(Object.entries(replaces(base, patch) ? {} : base));
  for (const [key, value] of Object.entries(patch)) {
    const under = all.get(key);
    if (value === null) all.delete(key);
    else all.set(key, isObject(value) ? mergePatch(isObject(under) ? under : {}, value, replaces) : value);
  }
  return Object.fromEntries(all);
}
