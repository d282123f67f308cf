import type { Command } from "commander";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { importTools } from "../../../../plugin/import-verl/import-tools.ts";
import { collect } from "../../terminal/option-values.ts";

/** `everturn tools import <file>`: converts verl's tool file to a pipeline's tools. */
export function registerToolsImport(parent: Command): void {
  parent
    .command("import")
    .description("convert verl's tool file (tool_config_path) to the tools of a pipeline")
    .argument("<file>", "verl's YAML file with tools, each with class_name, config and tool_schema")
    .option(
      "--map <class=plugin>",
      "plugin, or similar class of verl, for a class of your own (repeatable)",
      collect,
      [],
    )
    .action((file: string, { map }: { map: string[] }) => {
      process.stdout.write(importTools(file, new Map(map.map(pairOf))));
    });
}

function pairOf(text: string): [string, string] {
  const [, name, plugin] = /^([^=\s]+)=(\S+)$/.exec(text) ?? [];
  if (name !== undefined && plugin !== undefined) return [name, plugin];
  const reason = `--map ${text} is not CLASS=PLUGIN, such as my.tools.Board=./tools/board.ts`;
  throw new EverturnError("COMMAND_INVALID", { reason });
}
