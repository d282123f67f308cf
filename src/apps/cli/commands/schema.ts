import { resolve } from "node:path";
import type { Command } from "commander";
import { composedSchema } from "../../../plan/pipeline/read/composed-schema.ts";
import { namedPlugins } from "../../../plan/pipeline/resolve/named-plugins.ts";
import { collect } from "../terminal/option-values.ts";

/** `everturn schema [pipeline]`: prints the schema of pipelines with the available plugins, for editors. */
export function registerSchema(program: Command): void {
  program
    .command("schema")
    .description(
      "print a JSON Schema for pipelines that includes the options of the installed plugins, for editors",
    )
    .argument("[pipeline]", "pipeline file (YAML); also includes the plugins that it names by path")
    .option("--plugins <folder>", "also search this folder for plugins (repeatable)", collect, [])
    .action(async (pipeline: string | undefined, options: { plugins: string[] }) => {
      const plugins = await namedPlugins({
        folder: process.cwd(),
        pipeline,
        pluginFolders: options.plugins.map((folder) => resolve(folder)),
      });
      process.stdout.write(`${JSON.stringify(composedSchema(plugins), undefined, 2)}\n`);
    });
}
