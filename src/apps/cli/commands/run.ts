import { type Command, Option } from "commander";
import { placeRun, type RunPlace } from "../../../control/operations/place-run.ts";
import { memoryNotes } from "../../../plan/pipeline/explain/memory-notes.ts";
import { checkPipeline } from "../../../plan/pipeline/load-plan.ts";
import { workerLayouts } from "../../../run/folder/create-run.ts";
import { collect } from "../terminal/option-values.ts";
import { train } from "./train.ts";

interface Options extends RunPlace {
  temporal?: string;
  set: string[];
  plugins: string[];
  json: boolean;
}

/** `everturn run <pipeline>`: trains a policy. */
export function registerRun(program: Command): void {
  program
    .command("run")
    .description("train a policy as a pipeline says")
    .argument("<pipeline>", "YAML file")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--address <host:port>", "join this Temporal server instead of starting one")
    .option("--namespace <name>", "namespace on the joined server")
    .option("--temporal <path>", "Temporal CLI to start the dev server with")
    .addOption(
      new Option(
        "--workers <layout>",
        "one process for rollouts and one for the trainer, or one for each role; default: separate on a joined server",
      ).choices(workerLayouts),
    )
    .option(
      "--set <key=value>",
      "override a value of the pipeline, such as steps=5 (repeatable)",
      collect,
      [],
    )
    .option("--plugins <folder>", "look for plugins here too (repeatable)", collect, [])
    .option("--json", "end with one line of JSON on standard output", false)
    .action(async (pipeline: string, options: Options) => {
      const loading = { overrides: options.set, pluginFolders: options.plugins };
      const { plan, preflight, notes } = await checkPipeline(pipeline, loading);
      for (const note of [...notes, ...(await memoryNotes(plan, preflight))])
        process.stderr.write(`${note}\n`);
      await train({ ...(await placeRun(plan, options)), temporal: options.temporal, json: options.json });
    });
}
