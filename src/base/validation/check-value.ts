import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import { createAjv, type PathBase } from "./ajv.ts";

/** A value as its schema wants it, or what is wrong with it. */
export interface CheckedValue<T> {
  errors: readonly ErrorObject[];
  /** The value itself; absent if anything is wrong. */
  valid?: T;
}

/** One for all schemas: it compiles each once, which takes milliseconds. */
let ajv: Ajv | undefined;
const base: PathBase = {};
/** Equal schemas are one: a plugin's is read again for each pipeline that has it. */
const known = new Map<string, object>();

/** Compiles a schema. Throws what ajv throws at a schema that it can't compile. */
export function compileSchema<T>(schema: object): ValidateFunction<T> {
  ajv ??= createAjv(base);
  const text = JSON.stringify(schema);
  const first = known.get(text) ?? schema;
  known.set(text, first);
  return ajv.compile<T>(first);
}

/**
 * Checks a value by a schema. Fills defaults into it; with `baseFolder`, makes its paths absolute and checks that they
 * are there.
 */
export function checkValue<T>(schema: object, value: unknown, baseFolder?: string): CheckedValue<T> {
  const validate = compileSchema<T>(schema);
  base.folder = baseFolder;
  return validate(value) ? { errors: [], valid: value } : { errors: validate.errors ?? [] };
}
