import { deepest, isNestedTooDeep } from "../../base/json/nesting.ts";
import { findingsOf } from "../../base/validation/findings.ts";
import { linearPattern } from "../../base/validation/linear-pattern.ts";
import { loadAjv } from "../../base/validation/load-ajv.ts";
import { OutOfTime, withinTime } from "../../base/validation/within-time.ts";
import type { JsonObject } from "../../contracts/json.ts";

/** Checking a call's arguments takes no longer, ms. */
const limit = 2000;

/** A model reads no more of what is wrong. */
const mostErrors = 50;

/** Arguments of fewer characters are checked at once by a schema whose check takes time in proportion to them. */
const small = 20_000;

/** Keywords whose check may take longer than in proportion to the arguments. */
const slow = /"(?:\$(?:dynamic|recursive)?[rR]ef|uniqueItems)":/;

/**
 * A check of the model's arguments against a tool's parameter schema. It returns what is wrong, said to the model, or
 * undefined. Arguments are taken as they are: nothing is coerced or filled in. The schema is one of a checked manifest.
 * Whatever schema and arguments are, the check ends after two seconds: then the arguments are wrong (decision 0101).
 */
export function argumentsValidator(parameters: JsonObject): (given: JsonObject) => string | undefined {
  let isLinear = !slow.test(JSON.stringify(parameters));
  const regExp = (pattern: string) => {
    const linear = linearPattern(pattern);
    if (linear === undefined) isLinear = false;
    return linear ?? new RegExp(pattern, "u");
  };
  regExp.code = "new RegExp";
  const ajv = new (loadAjv().Ajv)({
    allErrors: true,
    verbose: true,
    strict: false,
    validateSchema: false,
    validateFormats: false,
    code: { regExp },
  });
  const validate = ajv.compile(parameters);

  function problem(given: JsonObject): string | undefined {
    if (validate(given)) return undefined;
    const errors = validate.errors?.slice(0, mostErrors) ?? [];
    const findings = findingsOf(errors, { base: "", whole: "the call" });
    return findings.map(({ error }) => error("arguments").message.replace(/^arguments: /, "")).join(" ");
  }

  return (given) => {
    if (isNestedTooDeep(given))
      return `the arguments are nested more than ${deepest} levels deep. Write them flatter.`;
    if (isLinear && JSON.stringify(given).length <= small) return problem(given);
    try {
      return withinTime(limit, () => problem(given));
    } catch (error) {
      if (!(error instanceof OutOfTime)) throw error;
      return `checking the arguments took longer than ${limit / 1000} s. Write shorter or simpler ones.`;
    }
  };
}
