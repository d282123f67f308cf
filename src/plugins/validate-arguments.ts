import type { JsonObject } from "../contracts/json.ts";
import { findingsOf } from "../validation/findings.ts";
import { loadAjv } from "../validation/load-ajv.ts";

/**
 * A check of the model's arguments against a tool's parameter schema. It returns what is wrong, said to the model, or
 * undefined. Arguments are taken as they are: nothing is coerced or filled in. The schema is one of a checked manifest.
 */
export function argumentsValidator(parameters: JsonObject): (given: JsonObject) => string | undefined {
  const ajv = new (loadAjv().Ajv)({
    ...{ allErrors: true, verbose: true },
    ...{ strict: false, validateSchema: false, validateFormats: false },
  });
  const validate = ajv.compile(parameters);
  return (given) => {
    if (validate(given)) return undefined;
    const findings = findingsOf(validate.errors ?? [], { base: "", whole: "the call" });
    return findings.map(({ error }) => error("arguments").message.replace(/^arguments: /, "")).join(" ");
  };
}
