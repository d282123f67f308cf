import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { createAjv, type PathBase } from "./ajv.ts";

/** A value as its schema wants it, or what is wrong with it. */
export interface CheckedValue<T> {
  errors: readonly ErrorObject[];
  /** The value itself; absent if anything is wrong. */
  valid?: T;
}

/** Schemas are compiled once a process, which takes milliseconds each: a plugin's when it is looked at, and then for each pipeline that has it. */
let shared: { ajv: Ajv; base: PathBase } | undefined;
/** Equal schemas are one. */
const known = new Map<string, object>();

/** Compiles a schema. Throws what ajv throws at a schema that it can't compile. */
export function compileSchema<T>(schema: object): { validate: ValidateFunction<T>; base: PathBase } {
  if (shared === undefined) {
    const base: PathBase = {};
    shared = { ajv: createAjv(base), base };
  }
  const text = JSON.stringify(schema);
  const first = known.get(text) ?? schema;
  known.set(text, first);
  return { validate: shared.ajv.compile<T>(first), base: shared.base };
}

/**
 * Checks a value by a schema. Fills defaults into it; with `baseFolder`, makes its paths absolute and checks that they
 * are there.
 */
export function checkValue<T>(schema: object, value: unknown, baseFolder?: string): CheckedValue<T> {
  const { validate, base } = compileSchema<T>(schema);
  base.folder = baseFolder;
  return validate(value) ? { errors: [], valid: value } : { errors: validate.errors ?? [] };
}
