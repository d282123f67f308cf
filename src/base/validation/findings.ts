import type { ErrorObject } from "ajv";
import { EverturnError } from "../errors/everturn-error.ts";
import { nearest } from "./nearest.ts";
import { child, type Pointer, pathText } from "./pointer.ts";
import type { Problem } from "./problem.ts";
import { propertiesOf } from "./properties-of.ts";
import { placeOf, type SourceDocument } from "./source-document.ts";
import { meantKey, type Subject, unknownKeyHint } from "./unknown-key.ts";
import { typeText, valueText } from "./wording.ts";

/** One problem that ajv found. `error` creates its error from the name of its place. */
export interface Finding {
  readonly pointer: Pointer;
  readonly part: "key" | "value";
  readonly error: (at: string) => EverturnError;
}

/** Converts ajv's errors (created with allErrors and verbose) to findings, one per thing to correct. */
export function findingsOf(errors: readonly ErrorObject[], subject: Subject): Finding[] {
  const alternatives = errors.filter(({ keyword }) => keyword === "anyOf" || keyword === "oneOf");
  const kept = errors.filter(
    (error) =>
      error.keyword !== "if" && !alternatives.some((whole) => whole !== error && within(error, whole)),
  );
  return kept.filter((error) => !isMisspelled(error, kept, subject)).map((error) => finding(error, subject));
}

/** The findings of a document with their places in it. */
export function problemsOf(
  errors: readonly ErrorObject[],
  document: SourceDocument,
  subject: Subject,
): Problem[] {
  return findingsOf(errors, subject).map(({ pointer, part, error }) => {
    const place = placeOf(document, pointer, part);
    return { place, error: error(place.text) };
  });
}

function within(error: ErrorObject, whole: ErrorObject): boolean {
  return error.instancePath === whole.instancePath || error.instancePath.startsWith(`${whole.instancePath}/`);
}

/** Whether the missing key is present under a wrong spelling or another name, which is already reported. */
function isMisspelled(error: ErrorObject, errors: readonly ErrorObject[], subject: Subject): boolean {
  if (error.keyword !== "required") return false;
  return errors.some(
    (other) =>
      other.keyword === "additionalProperties" &&
      other.instancePath === error.instancePath &&
      meantKey(other, subject) === error.params.missingProperty,
  );
}

function finding(error: ErrorObject, subject: Subject): Finding {
  const pointer = subject.base + error.instancePath;
  const where = pathText(pointer) || subject.whole;
  const help = descriptionOf(error.parentSchema);
  switch (error.keyword) {
    case "additionalProperties": {
      const key: string = error.params.additionalProperty;
      const hint = unknownKeyHint(error, subject);
      return {
        pointer: child(pointer, key),
        part: "key",
        error: (at) => new EverturnError("UNKNOWN_KEY", { at, key, where, hint }),
      };
    }
    case "required": {
      const key: string = error.params.missingProperty;
      const hint = descriptionOf(propertiesOf(error.parentSchema)[key]) || "it is required.";
      return {
        pointer,
        part: "key",
        error: (at) => new EverturnError("MISSING_KEY", { at, where, key, hint }),
      };
    }
    case "type": {
      const expected = typeText(error.params.type);
      const actual = valueText(error.data);
      const hint = [typeHint(error), help].filter(Boolean).join(" ");
      return {
        pointer,
        part: "value",
        error: (at) => new EverturnError("WRONG_TYPE", { at, where, expected, actual, hint }),
      };
    }
    case "x-path": {
      const { exists, hint } = error.params;
      const path = String(error.data);
      const expected = `must be a ${error.params.kind}`;
      return {
        pointer,
        part: "value",
        error: (at) =>
          exists
            ? new EverturnError("WRONG_VALUE", { at, where, actual: valueText(path), expected, hint: help })
            : new EverturnError("FILE_NOT_FOUND", { at, where, path, hint }),
      };
    }
    default: {
      const { expected, hint } = expectation(error, help);
      const given: unknown = error.data;
      const isShort = error.keyword === "minItems" && Array.isArray(given) && given.length > 0;
      const actual = isShort ? `a list of ${given.length}` : valueText(given);
      return {
        pointer,
        part: "value",
        error: (at) => new EverturnError("WRONG_VALUE", { at, where, actual, expected, hint }),
      };
    }
  }
}

function expectation(error: ErrorObject, help: string): { expected: string; hint: string } {
  const { keyword, params } = error;
  const hint = help || "Correct the value.";
  const limits: Record<string, string> = {
    ">=": "at least",
    "<=": "at most",
    ">": "more than",
    "<": "less than",
  };
  const limit: string | undefined = limits[params.comparison];
  if (limit !== undefined) return { expected: `must be ${limit} ${params.limit}`, hint };
  switch (keyword) {
    case "enum": {
      const allowed: string[] = params.allowedValues.map(String);
      const guess = nearest(String(error.data), allowed);
      const question = guess === undefined ? help : `Did you mean “${guess}”?`;
      return { expected: `must be one of ${allowed.join(", ")}`, hint: question || "Choose one." };
    }
    case "const":
      return { expected: `must be ${JSON.stringify(params.allowedValue)}`, hint };
    case "pattern":
      return { expected: "isn't of the right form", hint: help || `It must match ${params.pattern}.` };
    case "minLength":
    case "minItems":
    case "minProperties":
      return { expected: params.limit === 1 ? "must not be empty" : `needs at least ${params.limit}`, hint };
    case "anyOf":
    case "oneOf":
      return { expected: "fits none of the allowed forms", hint };
    default:
      return { expected: error.message ?? `breaks “${keyword}”`, hint };
  }
}

function descriptionOf(schema: unknown): string {
  if (typeof schema !== "object" || schema === null || !("description" in schema)) return "";
  return typeof schema.description === "string" ? schema.description : "";
}

function typeHint(error: ErrorObject): string {
  const wanted = [error.params.type].flat();
  if (typeof error.data !== "string") return "";
  if (
    /^(number|integer)$/.test(wanted[0]) &&
    error.data.trim() !== "" &&
    Number.isFinite(Number(error.data))
  ) {
    return "Remove the quotes.";
  }
  return wanted[0] === "boolean" && /^(yes|no|on|off)$/i.test(error.data) ? "Write true or false." : "";
}
