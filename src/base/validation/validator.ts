import type { ValidateFunction } from "ajv";
import { createAjv } from "./ajv.ts";

/**
 * Gives what tells whether a value is a `T` by one of Everturn's own schemas, which may refer to `others`. It is compiled when it is
 * first asked for, which takes tens of milliseconds: most processes need few of them.
 */
export function validatorOf<T>(schema: object, ...others: object[]): () => ValidateFunction<T> {
  let made: ValidateFunction<T> | undefined;
  return () => {
    made ??= createAjv().addSchema(others).compile<T>(schema);
    return made;
  };
}
