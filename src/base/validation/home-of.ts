import { propertiesOf } from "./properties-of.ts";

/** How deep to search for a key. */
const deepest = 3;

/**
 * Explains where a misplaced key belongs: next to the value, or further down in it. Undefined if `schema` does not
 * have it.
 */
export function homeOf(key: string, schema: unknown, beside: readonly string[] = []): string | undefined {
  if (beside.includes(key)) return "It belongs one level up, next to this mapping.";
  const homes = [...new Set(pathsTo(key, schema, schema, ""))];
  if (homes.length === 0) return undefined;
  const quoted = homes.map((home) => `“${home}”`);
  const last = quoted.pop();
  return `It belongs in ${quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`}.`;
}

/** The paths of objects below `schema` that have a property with this name. `root` has the definitions. */
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

/** Follows a schema's reference. Of a schema that also allows a plain name, it returns the form with keys. */
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
