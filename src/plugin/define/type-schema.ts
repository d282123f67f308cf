import type ts from "typescript";
import { defined } from "../../base/records/defined.ts";
import type { JsonObject, JsonValue } from "../../contracts/json.ts";

/** A type that has no JSON values. */
export class NoJsonType extends Error {}

/** The tools for converting types to schemas. */
interface Inference {
  compiler: typeof ts;
  checker: ts.TypeChecker;
}

/**
 * Converts a type to JSON Schema (draft-07). Throws NoJsonType. `place` is a node near which the compiler
 * resolves its parts.
 */
export function typeSchema(inference: Inference, whole: ts.Type, place: ts.Node): JsonObject {
  const { compiler, checker } = inference;
  return schemaOf(whole, []);

  function schemaOf(type: ts.Type, around: readonly ts.Type[]): JsonObject {
    if (around.includes(type)) throw refused(type, "refers to itself");
    if (type.isUnion()) return unionSchema(type, around);
    const plain = plainSchema(type);
    if (plain !== undefined) return plain;
    if (type.isIntersection()) {
      const basic = type.types.map(plainSchema).find((one) => one !== undefined);
      if (basic !== undefined) return basic; // a branded text or number
    }
    if (type.flags & (compiler.TypeFlags.Object | compiler.TypeFlags.Intersection))
      return objectSchema(type, around);
    throw refused(type, "is not a JSON value");
  }

  function plainSchema(type: ts.Type): JsonObject | undefined {
    if (type.isStringLiteral() || type.isNumberLiteral()) return { const: type.value };
    if (type.flags & compiler.TypeFlags.BooleanLiteral)
      return { const: checker.typeToString(type) === "true" };
    if (type.flags & compiler.TypeFlags.StringLike) return { type: "string" };
    if (type.flags & compiler.TypeFlags.NumberLike) return { type: "number" };
    if (type.flags & compiler.TypeFlags.BooleanLike) return { type: "boolean" };
    return type.flags & compiler.TypeFlags.Null ? { type: "null" } : undefined;
  }

  function unionSchema(union: ts.UnionType, around: readonly ts.Type[]): JsonObject {
    const given = union.types.filter((type) => !(type.flags & compiler.TypeFlags.Undefined));
    const schemas = given.map((type) => schemaOf(type, around));
    const constants = schemas.flatMap((schema): JsonValue[] =>
      "const" in schema ? [schema.const ?? null] : [],
    );
    const others = schemas.filter((schema) => !("const" in schema));
    const isBoolean = constants.includes(true) && constants.includes(false);
    const listed = constants.filter((one) => !isBoolean || typeof one !== "boolean");
    const all = [
      ...(listed.length === 0 ? [] : [{ enum: listed }]),
      ...(isBoolean ? [{ type: "boolean" }] : []),
      ...others,
    ];
    const [first] = all;
    return all.length === 1 && first !== undefined ? first : { anyOf: all };
  }

  function objectSchema(type: ts.Type, around: readonly ts.Type[]): JsonObject {
    const inside = [...around, type];
    if (checker.isTupleType(type)) return tupleSchema(type, inside);
    if (checker.isArrayType(type)) {
      const item = type.getNumberIndexType();
      return { type: "array", items: item === undefined ? {} : schemaOf(item, inside) };
    }
    if (type.getCallSignatures().length > 0) throw refused(type, "is a function");
    const properties: Record<string, JsonObject> = {};
    const required: string[] = [];
    for (const property of checker.getPropertiesOfType(type)) {
      const inner = checker.getTypeOfSymbolAtLocation(property, place);
      if (inner.getCallSignatures().length > 0) throw refused(type, "has methods, which JSON has not");
      properties[property.name] = { ...schemaOf(inner, inside), ...described(inference, property) };
      if (!(property.flags & compiler.SymbolFlags.Optional)) required.push(property.name);
    }
    const open = type.getStringIndexType();
    return defined({
      type: "object",
      additionalProperties: open === undefined ? false : schemaOf(open, inside),
      required: required.length > 0 ? required : undefined,
      properties: Object.keys(properties).length > 0 ? properties : undefined,
    });
  }

  function tupleSchema(type: ts.Type, inside: readonly ts.Type[]): JsonObject {
    const places = checker.getPropertiesOfType(type).filter(({ name }) => /^\d+$/.test(name));
    const items = places.map((item) => schemaOf(checker.getTypeOfSymbolAtLocation(item, place), inside));
    const minItems = places.filter(({ flags }) => !(flags & compiler.SymbolFlags.Optional)).length;
    return { type: "array", items, minItems, maxItems: items.length, additionalItems: false };
  }

  function refused(type: ts.Type, reason: string): NoJsonType {
    return new NoJsonType(`its type ${checker.typeToString(type)} ${reason}`);
  }
}

/** The doc comment of a symbol. */
export function described({ compiler, checker }: Inference, symbol: ts.Symbol): { description?: string } {
  const description = compiler.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  return description === "" ? {} : { description };
}
