/**
 * JSON Schema's keywords whose numbers are only compared. Schemas of 64-bit integers contain 9223372036854775807.
 */
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
/** Keywords whose value is not a schema, but an argument's value. */
const values = new Set(["const", "enum", "default", "example", "examples"]);
/** Keywords whose keys are names. */
const named = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/**
 * Whether the number of a request at these keys never reaches a tool, so that the nearest double is good enough: an
 * ignored setting of the request, such as `seed`, or a bound in the schema of a tool or of the answer.
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
