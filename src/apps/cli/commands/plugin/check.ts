import type { Command } from "commander";
import { defined } from "../../../../base/records/defined.ts";
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

/** `everturn plugin check [plugin]`: checks whether a plugin keeps its promises. */
export function registerCheck(parent: Command): void {
  parent
    .command("check")
    .description("check a plugin's promises: schema, retries, timeouts, cancellation, worker crashes …")
    .argument("[plugin]", "plugin file, package folder, or name of an installed plugin", ".")
    .option(
      "--case <json|file>",
      "case to try: JSON, or a JSON file or module with cases (repeatable)",
      collect,
      [],
    )
    .option("--config <json>", "configuration of the plugin, as in a pipeline", jsonObject)
    .option("--effects <file>", "file in which the tool records its side effects")
    .option("--json", "print the findings as one line of JSON", false)
    .action(async (plugin: string, { case: given, config, effects, json }: Options) => {
      const cases = (await Promise.all(given.map(readCases))).flat();
      const promises: PromiseOutcome[] = [];
      for await (const outcome of outcomesOf(
        await pluginChecks(plugin, defined({ cases, config, effects })),
      )) {
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
