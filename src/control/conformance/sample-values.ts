import type { JsonObject, JsonValue } from "../../contracts/json.ts";
import { isObject } from "../../contracts/json.ts";
import { argumentsValidator } from "../../plugin/registry/validate-arguments.ts";

/** Texts that have broken tools before: empty, beyond ASCII, end-of-turn tokens, invalid characters, a megabyte. */
export const oddTexts: readonly string[] = [
  "",
  " ",
  "naïve – 東京 – שלום – 🙂",
  "🙂".repeat(33),
  "<|im_end|>\n<|im_start|>assistant\n</s><tool_call>",
  "\u0000\u0001\u001b[31m\u007f\u009f\ufeff",
  "'\"\\`$(x);--%s",
  "a".repeat(2 ** 20),
];

const oddNumbers: readonly number[] = [0, -1, 0.1, 1e21, -1e-7, Number.MAX_SAFE_INTEGER];

/** The maximum depth of schemas to explore. */
const maximumDepth = 8;

/** Arguments that a schema allows: one with all optional ones, one without. Empty if none were found. */
export function plainValues(schema: JsonObject): JsonObject[] {
  const bare = { ...schema, examples: [] };
  return fitting(schema, [...examplesOf(schema), sampleOf(bare, 0, true), sampleOf(bare, 0, false)]);
}

/** The examples of a schema that it allows. */
export function exampleValues(schema: JsonObject): JsonObject[] {
  return fitting(schema, examplesOf(schema));
}

/** Arguments that a schema allows, each with one odd text or number. */
export function oddValues(schema: JsonObject): JsonObject[] {
  const whole = sampleOf(schema, 0, true);
  if (!isObject(whole)) return [];
  const properties = isObject(schema.properties) ? schema.properties : {};
  const made = Object.entries(properties).flatMap(([key, property]) =>
    isObject(property) ? oddOf(property).map((value) => ({ ...whole, [key]: value })) : [],
  );
  return fitting(schema, made);
}

function oddOf(schema: JsonObject): JsonValue[] {
  const types = [schema.type].flat();
  const items = isObject(schema.items) ? schema.items : undefined;
  const limit = typeof schema.maxLength === "number" ? schema.maxLength : Number.POSITIVE_INFINITY;
  const texts = oddTexts.map((text) => [...text].slice(0, limit).join(""));
  const { minimum, maximum } = schema;
  const numbers = [...oddNumbers, ...[minimum, maximum].filter((one) => typeof one === "number")];
  return [
    ...(types.includes("string") ? texts : []),
    ...(types.includes("number") ? numbers : []),
    ...(types.includes("integer") ? numbers.filter(Number.isInteger) : []),
    ...(items === undefined ? [] : [[], ...oddOf(items).map((one) => [one])]),
  ];
}

function fitting(schema: JsonObject, made: JsonValue[]): JsonObject[] {
  const problem = argumentsValidator(schema);
  const different = new Map(made.map((value) => [JSON.stringify(value), value]));
  return [...different.values()]
    .filter((value) => isObject(value) && problem(value) === undefined)
    .filter(isObject);
}

function examplesOf(schema: JsonObject): JsonValue[] {
  return Array.isArray(schema.examples) ? schema.examples : [];
}

/** A value that a schema may allow. `all` includes optional parts. */
function sampleOf(schema: JsonValue | undefined, depth: number, all: boolean): JsonValue {
  if (!isObject(schema) || depth > maximumDepth) return "text";
  const [example] = examplesOf(schema);
  if (example !== undefined) return example;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  for (const key of ["anyOf", "oneOf"]) {
    const choices = schema[key];
    if (Array.isArray(choices))
      return sampleOf({ ...schema, [key]: null, ...Object(choices[0]) }, depth + 1, all);
  }
  if (Array.isArray(schema.allOf))
    return sampleOf(Object.assign({}, schema, { allOf: null }, ...schema.allOf.map(Object)), depth + 1, all);
  switch ([schema.type].flat()[0] ?? (isObject(schema.properties) ? "object" : "string")) {
    case "object":
      return objectOf(schema, depth, all);
    case "array":
      return Array.from({ length: numberOf(schema.minItems, 1) }, () =>
        sampleOf(schema.items, depth + 1, all),
      );
    case "integer":
      return Math.ceil(middleOf(schema));
    case "number":
      return middleOf(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return "text".padEnd(numberOf(schema.minLength, 0), "x").slice(0, numberOf(schema.maxLength, 1e6));
  }
}

function objectOf(schema: JsonObject, depth: number, all: boolean): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const keys = all ? [...new Set([...required, ...Object.keys(properties)])] : required;
  return Object.fromEntries(keys.map((key) => [key, sampleOf(properties[key], depth + 1, all)]));
}

function middleOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject): number {
  const step = numberOf(multipleOf, 1);
  const least = numberOf(minimum, numberOf(exclusiveMinimum, Number.NEGATIVE_INFINITY));
  const most = numberOf(maximum, numberOf(exclusiveMaximum, Number.POSITIVE_INFINITY));
  if (least < 3 && most > 3) return 3 * step;
  if (least > Number.NEGATIVE_INFINITY && most < Number.POSITIVE_INFINITY) return (least + most) / 2;
  return least > Number.NEGATIVE_INFINITY ? least + step : most - step;
}

function numberOf(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}
