import type { ErrorObject } from "ajv";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { createAjv } from "../../base/validation/ajv.ts";
import { compileSchema } from "../../base/validation/check-value.ts";
import { suggestion } from "../../base/validation/nearest.ts";
import { type Pointer, pathText } from "../../base/validation/pointer.ts";
import type { Problem } from "../../base/validation/problem.ts";
import { placeOf, type SourceDocument } from "../../base/validation/source-document.ts";
import { valueText } from "../../base/validation/wording.ts";
import type { JsonObject } from "../../contracts/json.ts";

// biome-ignore format: a list of words
const keywords = [
  "$ref", "additionalItems", "additionalProperties", "allOf", "anyOf", "const", "contains", "default",
  "definitions", "dependencies", "description", "else", "enum", "examples", "exclusiveMaximum",
  "exclusiveMinimum", "format", "if", "items", "maxItems", "maxLength", "maxProperties", "maximum",
  "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
  "patternProperties", "properties", "propertyNames", "required", "then", "title", "type", "uniqueItems",
  "x-path",
];

/** One instance for all schemas, because preparing the meta-schema is slow. */
const forms = createAjv();

/** Returns the problems of the JSON Schema at `base` of a manifest. The schema must describe an object. */
export function schemaProblems(schema: JsonObject, document: SourceDocument, base: Pointer): Problem[] {
  const report = (pointer: Pointer, part: "key" | "value", reason: string, hint: string): Problem => {
    const place = placeOf(document, pointer, part);
    const where = pathText(pointer);
    return {
      place,
      error: new EverturnError("PLUGIN_SCHEMA_INVALID", { at: place.text, where, reason, hint }),
    };
  };
  if (schema.type !== "object") {
    const reason = schema.type === undefined ? "it lacks “type”" : `its type is ${valueText(schema.type)}`;
    return [report(base, "key", reason, 'It describes named values: write "type": "object".')];
  }
  if (!forms.validateSchema(schema)) {
    return byPlace(forms.errors ?? []).map((error) =>
      report(base + error.instancePath, "value", reasonOf(error), "Correct it there."),
    );
  }
  try {
    compileSchema(schema);
    return [];
  } catch (error) {
    return [compileProblem(messageOf(error), document, base, report)];
  }
}

/**
 * Keeps one error per place. The meta-schema's alternatives give several, and the list of allowed words is
 * the most useful.
 */
function byPlace(errors: readonly ErrorObject[]): ErrorObject[] {
  const listsFirst = errors.toSorted((a, b) => Number(b.keyword === "enum") - Number(a.keyword === "enum"));
  return [...new Map(listsFirst.toReversed().map((error) => [error.instancePath, error])).values()].reverse();
}

function reasonOf(error: ErrorObject): string {
  const words: unknown[] = error.keyword === "enum" ? error.params.allowedValues : [];
  const wanted = words.length > 0 ? `must be one of ${words.join(", ")}` : error.message;
  return `it is ${valueText(error.data)}, but ${wanted}`;
}

function compileProblem(
  message: string,
  document: SourceDocument,
  base: Pointer,
  report: (pointer: Pointer, part: "key" | "value", reason: string, hint: string) => Problem,
): Problem {
  const unknown = /unknown keyword: "(.+)"/.exec(message)?.[1];
  if (unknown === undefined) return report(base, "key", message, "Correct it.");
  const at = [...document.offsets.keys()].find(
    (pointer) => pointer.startsWith(base) && pointer.endsWith(`/${unknown}`),
  );
  const hint = suggestion(unknown, keywords, "Keywords") || "Remove it; use “description” for remarks.";
  return report(at ?? base, "key", `“${unknown}” is not a keyword`, hint);
}
