import type { Command } from "commander";
import type { JsonObject } from "../../../../contracts/json.ts";
import { outcomesOf, type PromiseOutcome } from "../../../../control/conformance/outcomes.ts";
import { pluginChecks } from "../../../../control/conformance/plugin-checks.ts";
import { collect, jsonObject } from "../../terminal/option-values.ts";
import { readCases } from "./read-cases.ts";

interface Options {
  case: string[];
  config?: JsonObject;
  effects?: string;
  json: boolean;
}

/** `everturn plugin check [plugin]`: whether a plugin keeps its promises. */
export function registerCheck(parent: Command): void {
  parent
    .command("check")
    .description(
      "check whether a plugin keeps its promises: schema, retries, time-outs, cancellation, its worker's death …",
    )
    .argument("[plugin]", "a file, a package's folder, or the name of a plugin that is installed", ".")
    .option("--case <json|file>", "try this, or what a JSON file or a module has (repeatable)", collect, [])
    .option("--config <json>", "its configuration, as a pipeline gives it", jsonObject)
    .option("--effects <file>", "a file that tells what a tool has changed in the world")
    .option("--json", "print what was found as one line of JSON", false)
    .action(async (plugin: string, { case: given, config, effects, json }: Options) => {
      const cases = (await Promise.all(given.map(readCases))).flat();
      const options = { cases, ...(config && { config }), ...(effects !== undefined && { effects }) };
      const promises: PromiseOutcome[] = [];
      for await (const outcome of outcomesOf(await pluginChecks(plugin, options))) {
        promises.push(outcome);
        if (!json) process.stdout.write(outcomeText(outcome));
      }
      const numbers = { kept: countOf("kept"), broken: countOf("broken"), unchecked: countOf("not checked") };
      const { kept, broken } = numbers;
      const summary = `${plugin} keeps ${kept} of ${promises.length} promises`;
      process.stdout.write(`${json ? JSON.stringify({ plugin, ...numbers, promises }) : summary}\n`);
      if (broken > 0) process.exitCode = 1;

      function countOf(wanted: PromiseOutcome["outcome"]): number {
        return promises.filter(({ outcome }) => outcome === wanted).length;
      }
    });
}

const marks: Record<PromiseOutcome["outcome"], string> = { kept: "✓", broken: "✗", "not checked": "–" };

function outcomeText({ promise, says, outcome, seen = "", advice = "" }: PromiseOutcome): string {
  const line = `${marks[outcome]} ${promise}: ${says}\n`;
  return outcome === "broken" ? `${line}    seen: ${seen}.\n    to do: ${advice}\n` : line;
}
