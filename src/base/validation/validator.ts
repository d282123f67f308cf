import type { ValidateFunction } from "ajv";
import { createAjv } from "./ajv.ts";

/**
 * Returns a getter for a function that checks whether a value is a `T` by one of Everturn's own schemas, which may
 * refer to `others`. The schema is compiled on first use, because that takes tens of milliseconds and most processes
 * need few of them.
 */
export function validatorOf<T>(schema: object, ...others: object[]): () => ValidateFunction<T> {
  let made: ValidateFunction<T> | undefined;
  return () => {
    made ??= createAjv().addSchema(others).compile<T>(schema);
    return made;
  };
}
