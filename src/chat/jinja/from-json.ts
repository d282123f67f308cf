import { JinjaError } from "./errors.ts";
import { Dict, type Value } from "./values.ts";

/** JSON as a template sees it: whole numbers are ints, others floats; what is undefined is left out. */
export function fromJson(value: unknown): Value {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number")
    return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(fromJson);
  if (typeof value !== "object") throw new JinjaError(`a ${typeof value} is not JSON`);
  const dict = new Dict();
  for (const [key, one] of Object.entries(value)) if (one !== undefined) dict.set(key, fromJson(one));
  return dict;
}
