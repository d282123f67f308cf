import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { createAjv, type PathBase } from "./ajv.ts";

/** A value that matches its schema, or the problems found. */
export interface CheckedValue<T> {
  errors: readonly ErrorObject[];
  /** The value itself; absent if there are problems. */
  valid?: T;
}

/** Shared by all schemas. It compiles each one once, which takes milliseconds. */
let ajv: Ajv | undefined;
const base: PathBase = {};
/** Maps equal schemas to one object, because each pipeline that uses a plugin reads its schema again. */
const known = new Map<string, object>();

/** Compiles a schema. Throws ajv's error if it can't be compiled. */
export function compileSchema<T>(schema: object): ValidateFunction<T> {
  ajv ??= createAjv(base);
  const text = JSON.stringify(schema);
  const first = known.get(text) ?? schema;
  known.set(text, first);
  return ajv.compile<T>(first);
}

/**
 * Checks a value against a schema and fills in defaults. With `baseFolder`, it makes paths absolute and checks that
 * they exist.
 */
export function checkValue<T>(schema: object, value: unknown, baseFolder?: string): CheckedValue<T> {
  const validate = compileSchema<T>(schema);
  base.folder = baseFolder;
  return validate(value) ? { errors: [], valid: value } : { errors: validate.errors ?? [] };
}
