import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../../base/errors/message-of.ts";
import { parseExactJson } from "../../../../base/json/exact-json.ts";
import { readText } from "../../../../base/validation/read-text.ts";
import type { PluginCase } from "../../../../control/conformance/cases.ts";

/** The cases of `--case`: JSON, a JSON file, or a module's default export. Throws COMMAND_INVALID. */
export async function readCases(given: string): Promise<PluginCase[]> {
  const cases = [await parsed(given)].flat();
  const isCase = (one: unknown): one is PluginCase =>
    typeof one === "object" && one !== null && ["arguments", "answer", "actions"].some((key) => key in one);
  if (cases.every(isCase)) return cases;
  const expected =
    'a case is {"arguments": {…}} of a tool, {"answer": "…"} of a reward, {"actions": ["…"]} of a loop, or a list of these';
  throw new EverturnError("COMMAND_INVALID", { reason: `--case ${given}: ${expected}` });
}

async function parsed(given: string): Promise<unknown> {
  try {
    if (/^\s*[[{]/.test(given)) return parseExactJson(given);
    if (given.endsWith(".json")) return parseExactJson(readText(resolve(given)));
    return (await import(pathToFileURL(resolve(given)).href)).default;
  } catch (error) {
    throw new EverturnError("COMMAND_INVALID", {
      reason: `--case ${given}: ${messageOf(error).replace(/\.$/, "")}`,
    });
  }
}
