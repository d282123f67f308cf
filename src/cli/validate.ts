import type { Command } from "commander";
import { loadPlan } from "../pipeline/load-plan.ts";
import { capabilityLine, usedPlugins } from "./capabilities.ts";
import { collect } from "./option-values.ts";

/** `everturn validate <pipeline>`: checks a pipeline and its plugins, and starts nothing. */
export function registerValidate(program: Command): void {
  program
    .command("validate")
    .description("check a pipeline and its plugins; nothing is started")
    .argument("<pipeline>", "YAML file")
    .option("--set <key=value>", "override a value of the pipeline (repeatable)", collect, [])
    .option("--plugins <folder>", "look for plugins here too (repeatable)", collect, [])
    .option("--json", "print the plan as one line of JSON", false)
    .action(async (pipeline: string, options: { set: string[]; plugins: string[]; json: boolean }) => {
      const plan = await loadPlan(pipeline, { overrides: options.set, pluginFolders: options.plugins });
      const plugins = usedPlugins(plan).map(({ name }) => name);
      const summary = `${pipeline} is valid: ${plan.steps} steps; plugins ${plugins.join(", ")}`;
      const line = `${summary}\n${capabilityLine(plan)}`;
      process.stdout.write(`${options.json ? JSON.stringify(plan) : line}\n`);
    });
}
