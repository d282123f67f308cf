import { isObject, type JsonObject, type JsonValue } from "../../contracts/json.ts";

/** The kinds of JSON values, named as in JSON Schema's `type`. An integer is a number too. */
export const kinds = ["null", "boolean", "integer", "number", "string", "array", "object"] as const;
export type Kind = (typeof kinds)[number];

/** A schema, and the root with the definitions that its references name. */
export interface Schema {
  root: JsonObject;
  schema: JsonValue;
}

/** Names for kinds in other languages, which some schemas use. */
const aliases: Record<string, Kind | undefined> = {
  str: "string",
  text: "string",
  int: "integer",
  float: "number",
  double: "number",
  bool: "boolean",
  dict: "object",
  list: "array",
  tuple: "array",
};

const deciding = ["$ref", "type", "const", "enum", "anyOf", "oneOf", "allOf"];
/** How many schemas within a schema are visited, because it may refer to itself. */
const most = 1000;

export function kindOf(value: JsonValue): Kind {
  if (value === null) return "null";
  if (typeof value === "boolean") return "boolean";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return "string";
  return Array.isArray(value) ? "array" : "object";
}

/** Whether a schema allows any value. */
export function isOpen({ schema, root }: Schema): boolean {
  const found = resolved(schema, root);
  return !isObject(found) || !deciding.some((key) => found[key] !== undefined);
}

/**
 * Whether a schema's types, constants and alternatives allow a value, or any value of a kind. It reads `type`,
 * `nullable`, `const`, `enum`, `anyOf`, `oneOf`, `allOf`, and `$ref` to a definition in the same schema, and ignores
 * other keywords.
 */
export function allows({ schema, root }: Schema, of: { value: JsonValue } | { kind: Kind }): boolean {
  const kind = "kind" in of ? of.kind : kindOf(of.value);
  const same = (one: JsonValue) =>
    "kind" in of ? kindOf(one) === kind : JSON.stringify(one) === JSON.stringify(of.value);
  let steps = 0;
  return matches(schema);

  function matches(one: JsonValue | undefined): boolean {
    if (!isObject(one)) return one !== false;
    if (++steps > most) return false;
    const { $ref, type, nullable, const: only, enum: values, anyOf, oneOf, allOf } = one;
    if (nullable === true && kind === "null") return true;
    if (typeof $ref === "string" && !matches(pointed($ref, root))) return false;
    if (!isNamed(kind, type)) return false;
    if (only !== undefined && !same(only)) return false;
    if (Array.isArray(values) && !values.some(same)) return false;
    const alternatives = [anyOf, oneOf].every(
      (list) => !Array.isArray(list) || list.some((each) => matches(each)),
    );
    return alternatives && (!Array.isArray(allOf) || allOf.every((each) => matches(each)));
  }
}

/** Whether a schema's `type` includes a kind, ignoring case. Unknown names don't count. */
function isNamed(kind: Kind, type: JsonValue | undefined): boolean {
  const named = [type].flat().flatMap((one) => {
    const name = typeof one === "string" ? one.toLowerCase() : "";
    const found = Object.hasOwn(aliases, name) ? aliases[name] : kinds.find((each) => each === name);
    return found === undefined ? [] : [found];
  });
  return named.length === 0 || named.includes(kind) || (kind === "integer" && named.includes("number"));
}

/** A schema, or the definition that it refers to. */
export function resolved(schema: JsonValue | undefined, root: JsonObject): JsonValue | undefined {
  let found = schema;
  for (let steps = 0; steps < most && isObject(found) && typeof found.$ref === "string"; steps++)
    found = pointed(found.$ref, root);
  return found;
}

/** The schema of an argument in a function's parameters; undefined if they don't describe it. */
export function propertySchema(parameters: JsonObject, name: string): Schema | undefined {
  let steps = 0;
  const found = property(parameters);
  return found === undefined ? undefined : { root: parameters, schema: found };

  function property(of: JsonValue | undefined): JsonValue | undefined {
    if (!isObject(of) || ++steps > most) return undefined;
    const { $ref, anyOf, oneOf, allOf } = of;
    const all = [
      own(of, name),
      typeof $ref === "string" ? property(pointed($ref, parameters)) : undefined,
      ...listed(allOf).map(property),
      ...[anyOf, oneOf].map((list) => either(listed(list).map(property))),
    ].filter((one) => one !== undefined);
    return all.length > 1 ? { allOf: all } : all[0];
  }
}

/**
 * An object schema's own description of a property: by its name, by matching patterns, or by the rule for all
 * others.
 */
function own(of: JsonObject, name: string): JsonValue | undefined {
  const { properties, patternProperties, additionalProperties } = of;
  const named = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const patterns = isObject(patternProperties) ? Object.entries(patternProperties) : [];
  const sure: JsonValue[] = named === undefined ? [] : [named];
  const possible: JsonValue[] = [];
  for (const [pattern, schema] of patterns) {
    const isMatch = matchesName(pattern, name);
    if (isMatch !== false) (isMatch === true ? sure : possible).push(schema);
  }
  if (sure.length > 0) return sure.length > 1 ? { allOf: sure } : sure[0];
  const others = additionalProperties === false ? undefined : additionalProperties;
  return possible.length === 0 ? others : { anyOf: [...possible, ...(others === undefined ? [] : [others])] };
}

/** A schema that any of these satisfies; undefined if one of them is missing. */
function either(schemas: readonly (JsonValue | undefined)[]): JsonValue | undefined {
  const said = schemas.filter((one) => one !== undefined);
  return said.length === 0 || said.length < schemas.length ? undefined : { anyOf: said };
}

/**
 * Whether a pattern matches an argument's name; undefined if matching could be slow, because workflow code has no
 * expressions with bounded time. A short name is fast if the pattern has no repeated groups and few repetitions.
 */
function matchesName(pattern: string, name: string): boolean | undefined {
  const isPlain =
    name.length <= 64 &&
    pattern.length <= 200 &&
    !/\)[*+?{]|\(\?|\\[1-9k]/.test(pattern) &&
    (pattern.match(/[*+{]/g) ?? []).length <= 3;
  if (!isPlain) return undefined;
  try {
    return new RegExp(pattern, "u").test(name);
  } catch {
    return undefined; // not a JavaScript expression: it may match
  }
}

/** The value that a reference within a schema points to, such as `#/$defs/Name`; undefined if there is none. */
function pointed(reference: string, root: JsonObject): JsonValue | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let found: JsonValue | undefined = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(key)];
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function listed(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
