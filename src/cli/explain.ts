import type { Command } from "commander";
import { derivedNumbers } from "../pipeline/derived-numbers.ts";
import { checkPipeline } from "../pipeline/load-plan.ts";
import { explanation, suppliedParts } from "./explanation.ts";
import { collect } from "./option-values.ts";
import { preflightText } from "./preflight-text.ts";

/** `everturn explain <pipeline>`: what a run of it will do, in numbers; nothing is started. */
export function registerExplain(program: Command): void {
  program
    .command("explain")
    .description("say what a run of a pipeline will do, in order and in numbers; nothing is started")
    .argument("<pipeline>", "YAML file")
    .option("--set <key=value>", "override a value of the pipeline (repeatable)", collect, [])
    .option("--plugins <folder>", "look for plugins here too (repeatable)", collect, [])
    .option("--json", "print one line of JSON", false)
    .action(async (pipeline: string, options: { set: string[]; plugins: string[]; json: boolean }) => {
      const loading = { overrides: options.set, pluginFolders: options.plugins };
      const { plan, preflight, notes } = await checkPipeline(pipeline, loading);
      const numbers = derivedNumbers(plan, preflight);
      const line = { ...numbers, parts: suppliedParts(plan), preflight: preflight.counted, notes };
      const text = [explanation(plan, numbers), ...notes, "", "Prompt", preflightText(preflight, plan)];
      process.stdout.write(`${options.json ? JSON.stringify(line) : text.join("\n")}\n`);
    });
}
