import { mergePatch } from "../../../base/records/merge-patch.ts";
import { isObject, type JsonObject } from "../../../contracts/json.ts";

/**
 * Applies a value to another one as a JSON merge patch (RFC 7396): mappings merge, null removes a key, and
 * all other values replace. A mapping that names a different plugin or uses a block replaces the other one.
 */
export function merged(base: unknown, over: unknown): unknown {
  return isObject(over) ? mergePatch(isObject(base) ? base : {}, over, namesAnother) : over;
}

function namesAnother(base: JsonObject, over: JsonObject): boolean {
  if (over.use !== undefined && typeof over.use === "string") return true;
  return over.plugin !== undefined && over.plugin !== base.plugin;
}
