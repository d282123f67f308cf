import { propertiesOf } from "./properties-of.ts";

/** So deep is a key looked for. */
const deepest = 3;

/**
 * Where a key belongs that does not stand where `schema` wants it: beside the value, or further down in it. Undefined if
 * nowhere.
 */
export function homeOf(key: string, schema: unknown, beside: readonly string[] = []): string | undefined {
  if (beside.includes(key)) return "It belongs one level up, next to this mapping.";
  const homes = [...new Set(pathsTo(key, schema, schema, ""))];
  if (homes.length === 0) return undefined;
  const quoted = homes.map((home) => `“${home}”`);
  const last = quoted.pop();
  return `It belongs in ${quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`}.`;
}

/** The paths of objects below `schema` that have a property of this name; `root` has the definitions. */
function pathsTo(key: string, schema: unknown, root: unknown, path: string, depth = 0): string[] {
  if (depth > deepest) return [];
  const node = resolved(schema, root);
  const properties = Object.entries(propertiesOf(node));
  const here = path !== "" && properties.some(([name]) => name === key) ? [path] : [];
  const below = properties.flatMap(([name, child]) =>
    pathsTo(key, child, root, path === "" ? name : `${path}.${name}`, depth + 1),
  );
  const items = typeof node === "object" && node !== null && "items" in node ? node.items : undefined;
  return [...here, ...below, ...(items === undefined ? [] : pathsTo(key, items, root, `${path}[]`, depth))];
}

/** A schema behind its reference, and the form with keys of one that may also be a name alone. */
function resolved(schema: unknown, root: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if ("else" in schema) return resolved(schema.else, root);
  if (!("$ref" in schema)) return schema;
  const name = String(schema.$ref).replace("#/definitions/", "");
  const definitions =
    typeof root === "object" && root !== null && "definitions" in root ? root.definitions : {};
  if (typeof definitions !== "object" || definitions === null) return undefined;
  return resolved(Reflect.get(definitions, name), root);
}
