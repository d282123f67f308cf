import type { Command } from "commander";
import { counted } from "../../../base/text/format.ts";
import { rewardNotes } from "../../../plan/pipeline/check/reward-notes.ts";
import { memoryNotes } from "../../../plan/pipeline/explain/memory-notes.ts";
import { checkPipeline } from "../../../plan/pipeline/load-plan.ts";
import { collect } from "../terminal/option-values.ts";
import { preflightText } from "../views/preflight-text.ts";
import { capabilityLine, usedPlugins } from "./capabilities.ts";

/** `everturn validate <pipeline>`: checks a pipeline, its plugins and its data, and starts nothing. */
export function registerValidate(program: Command): void {
  program
    .command("validate")
    .description("check a pipeline, its plugins and its data, and show a prompt, without starting a run")
    .argument("<pipeline>", "pipeline file (YAML)")
    .option("--set <key=value>", "override a value of the pipeline (repeatable)", collect, [])
    .option("--plugins <folder>", "also search this folder for plugins (repeatable)", collect, [])
    .option("--json", "print the plan as one line of JSON", false)
    .action(async (pipeline: string, options: { set: string[]; plugins: string[]; json: boolean }) => {
      const loading = { overrides: options.set, pluginFolders: options.plugins };
      const { plan, preflight, data, notes: found } = await checkPipeline(pipeline, loading);
      const notes = [...found, ...(await rewardNotes(plan, data)), ...(await memoryNotes(plan, preflight))];
      const plugins = usedPlugins(plan).map(({ name }) => name);
      const summary = `${pipeline} is valid: ${counted(plan.steps, "step")}; plugins ${plugins.join(", ")}`;
      const text = [summary, capabilityLine(plan), ...notes, preflightText(preflight, plan)].join("\n");
      const line = { ...plan, preflight: preflight.counted, notes };
      process.stdout.write(`${options.json ? JSON.stringify(line) : text}\n`);
    });
}
