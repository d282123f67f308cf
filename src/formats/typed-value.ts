import { isObject, type JsonObject, type JsonValue } from "../contracts/json.ts";
import type { ToolDefinition } from "../contracts/message.ts";
import { jsonOf } from "./json-text.ts";
import { pythonLiteral } from "./python-text.ts";

/**
 * What an argument's text stands for, where a format writes texts and numbers alike: what its tool's schema says. Without
 * a schema what reads as a number, a boolean, null, a list or an object is that.
 */
export function typedValue(text: string, schema: JsonValue | undefined): JsonValue {
  const types = new Set(typesOf(schema));
  if (types.size === 1 && types.has("string")) return text;
  const written = text.trim();
  const json = jsonOf(written);
  if (types.size === 0) return json === undefined || typeof json === "string" ? text : json;
  for (const value of [json, pythonLiteral(written)]) {
    if (value === undefined || typeof value === "string") continue;
    if (types.has(typeOf(value)) || (types.has("integer") && Number.isInteger(value))) return value;
  }
  return text;
}

/** The schema of a function's argument, among the tools' functions. */
export function argumentSchema(
  tools: readonly ToolDefinition[],
  name: string,
  argument: string,
): JsonValue | undefined {
  const properties = tools.find((tool) => tool.name === name)?.parameters.properties;
  return isObject(properties) && Object.hasOwn(properties, argument) ? properties[argument] : undefined;
}

/** Arguments whose texts are typed by their function's schema. */
export function typedArguments(
  tools: readonly ToolDefinition[],
  name: string,
  texts: readonly (readonly [key: string, text: string])[],
): JsonObject {
  return Object.fromEntries(
    texts.map(([key, text]) => [key, typedValue(text, argumentSchema(tools, name, key))]),
  );
}

function typesOf(schema: JsonValue | undefined): string[] {
  if (!isObject(schema)) return [];
  const { type, anyOf, oneOf, enum: values } = schema;
  if (type !== undefined) return [type].flat().map(String);
  const others = [anyOf, oneOf].flatMap((one) => (Array.isArray(one) ? one : []));
  return [...others.flatMap(typesOf), ...(Array.isArray(values) ? values.map(typeOf) : [])];
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
