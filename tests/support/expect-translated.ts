import { expect } from "vitest";
import { isObject } from "../../src/contracts/json.ts";
import { definitionOf } from "../../src/plugin/define/definition-of.ts";
import { foreignTool } from "../../src/plugin/registry/foreign/foreign-tool.ts";
import { argumentsValidator } from "../../src/plugin/registry/validate-arguments.ts";

/** How foreign tools are executed. */
export const execution = {
  instance: "",
  function: "",
  key: "run/step-0001/task-1/0/1/0",
  attempt: 1,
  config: {},
  isReplay: false,
  signal: new AbortController().signal,
};

/** Expects that the weather tool `name` of a module is translated: its name, its schema, and its answers for Oslo and Atlantis. */
export async function expectTranslated(
  all: Record<string, unknown>,
  name: string,
  toolName: string,
  ofOslo: string,
  ofAtlantis: object,
): Promise<void> {
  const found = definitionOf(all, { path: "foreign.ts", name, kind: "tool" });
  if (!("definition" in found)) throw new Error(found.finding.reason);
  const { said, schemas } = found.definition;
  expect(said.name).toBe(toolName);
  const told = schemas.parameters;
  const parameters = told && "schema" in told ? told.schema : said.parameters;
  const wrong = argumentsValidator(isObject(parameters) ? parameters : {});
  expect(wrong({ city: "Oslo" })).toBeUndefined();
  expect(wrong({ city: 3 })).toContain("city must be text, but is 3.");
  const translated = foreignTool(all[name], name);
  expect(await translated?.execute({ city: "Oslo" }, execution, undefined)).toMatchObject({ text: ofOslo });
  expect(await translated?.execute({ city: "Atlantis" }, execution, undefined)).toMatchObject(ofAtlantis);
}
