/** JSON Schema's keywords whose numbers are only compared. Schemas of 64-bit integers hold 9223372036854775807. */
const bounds = new Set([
  "maximum",
  "minimum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "maxLength",
  "minLength",
  "maxItems",
  "minItems",
  "maxProperties",
  "minProperties",
]);
/** Keywords whose value is no schema: what it says is a value of an argument. */
const values = new Set(["const", "enum", "default", "example", "examples"]);
/** Keywords whose keys are names. */
const named = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/**
 * Whether a number of a request, to which these keys lead, reaches no tool, so that the nearest double will do: a setting of the request's
 * own, such as `seed`, which is read over, or a bound in the schema of a tool or of the answer.
 */
export function isOnlyCompared(path: readonly string[]): boolean {
  const [field = "", ...keys] = path;
  if (keys.length === 0) return true;
  if (!["tools", "response_format", "text"].includes(field)) return false;
  let isName = false;
  for (const key of keys) {
    if (!isName && values.has(key)) return false;
    isName = !isName && named.has(key);
  }
  return bounds.has(keys.at(-1) ?? "");
}
