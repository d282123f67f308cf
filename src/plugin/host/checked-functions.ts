import { messageOf } from "../../base/errors/message-of.ts";
import type { JsonObject } from "../../contracts/json.ts";
import type { OfferedFunction } from "../../contracts/plan.ts";
import { argumentsValidator } from "../registry/validate-arguments.ts";
import { invalidAnswer, isPlain } from "./checked-answer.ts";

/** The functions that a tool tells by name, checked. Throws PLUGIN_ANSWER_INVALID. */
export function checkedFunctions(plugin: string, given: unknown): OfferedFunction[] {
  const refuse = (expected: string) => invalidAnswer(plugin, "functions", given, expected);
  if (!isPlain(given) || Array.isArray(given))
    throw refuse("it must be { name: { description, parameters } }");
  const entries = Object.entries(given);
  if (entries.length === 0) throw refuse("there must be at least one function");
  return entries.map(([name, said]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name))
      throw refuse(`“${name}” must be letters, digits, _ and -, at most 64`);
    if (!isPlain(said)) throw refuse(`“${name}” must be { description, parameters }`);
    const { description, parameters } = said;
    if (typeof description !== "string" || description === "")
      throw refuse(`“${name}.description” must be text`);
    if (!isPlain(parameters) || parameters.type !== "object")
      throw refuse(`“${name}.parameters” must be a JSON Schema of type object`);
    try {
      const schema: JsonObject = JSON.parse(JSON.stringify(parameters));
      argumentsValidator(schema);
      return { name, description, parameters: schema };
    } catch (error) {
      throw refuse(`“${name}.parameters” must be a JSON Schema: ${messageOf(error)}`);
    }
  });
}
