import { deepest, isNestedTooDeep } from "../../base/json/nesting.ts";
import { findingsOf } from "../../base/validation/findings.ts";
import { linearPattern } from "../../base/validation/linear-pattern.ts";
import { loadAjv } from "../../base/validation/load-ajv.ts";
import { OutOfTime, withinTime } from "../../base/validation/within-time.ts";
import type { JsonObject } from "../../contracts/json.ts";

/** Milliseconds after which the check of a call's arguments is stopped. */
const limit = 2000;

/** The maximum number of problems that a model reads. */
const mostErrors = 50;

/**
 * Arguments with fewer characters are checked at once if the time for their schema is proportional to their
 * size.
 */
const small = 20_000;

/** Keywords whose check may take more than linear time. */
const slow = /"(?:\$(?:dynamic|recursive)?[rR]ef|uniqueItems)":/;

/**
 * Returns a check of a model's arguments against a tool's parameter schema. The check returns a description
 * of the problems for the model, or undefined. It does not coerce arguments or fill in defaults. The schema
 * must come from a checked manifest. For any schema and arguments, the check ends after two seconds and then
 * rejects the arguments (decision 0101).
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
