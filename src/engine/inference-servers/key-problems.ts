import type { ConfigurationProblem } from "../../contracts/configuration-problem.ts";
import type { JsonObject } from "../../contracts/json.ts";

/** Returns the problems of `apiKeyVariable`, the name of the environment variable with a server's key. */
export function keyProblems({ apiKeyVariable: name }: JsonObject): ConfigurationProblem[] {
  if (typeof name !== "string" || process.env[name]) return [];
  const help = `Set ${name} where the workers run, or remove apiKeyVariable.`;
  return [{ key: "apiKeyVariable", reason: `is ${name}, which the environment lacks`, help }];
}
