import { type Command, Option } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isPlanOf, placeRun, type RunPlace } from "../../../control/operations/place-run.ts";
import { rewardNotes } from "../../../plan/pipeline/check/reward-notes.ts";
import { memoryNotes } from "../../../plan/pipeline/explain/memory-notes.ts";
import { checkPipeline } from "../../../plan/pipeline/load-plan.ts";
import { workerLayouts } from "../../../run/folder/create-run-folder.ts";
import { collect, priority } from "../terminal/option-values.ts";
import { train } from "./train.ts";

interface Options extends Omit<RunPlace, "run"> {
  id?: string;
  temporal?: string;
  set: string[];
  plugins: string[];
  json: boolean;
}

/** `everturn run <pipeline>`: trains a policy. */
export function registerRun(program: Command): void {
  program
    .command("run")
    .description("train a policy with a pipeline")
    .argument("<pipeline>", "pipeline file (YAML)")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option(
      "--id <id>",
      "id of the run; continues it if it exists (default: the pipeline's name and the time)",
    )
    .option("--address <host:port>", "use this Temporal server instead of starting one")
    .option("--namespace <name>", "namespace on that server")
    .option("--temporal <path>", "Temporal CLI that starts the dev server")
    .addOption(
      new Option(
        "--workers <layout>",
        "shared: one process for rollouts and one for training; separate: one process per role (default with --address); elsewhere: none, because everturn worker starts them",
      ).choices(workerLayouts),
    )
    .option("--pool <name>", "let the workers of a pool generate and train (everturn worker --pool)")
    .option(
      "--priority <number>",
      "place among the runs of the pool: 1 comes first, 5 last (default: 3)",
      priority,
    )
    .option(
      "--set <key=value>",
      "override a value of the pipeline, for example steps=5 (repeatable)",
      collect,
      [],
    )
    .option("--plugins <folder>", "also search this folder for plugins (repeatable)", collect, [])
    .option("--json", "print the result as one line of JSON", false)
    .action(async (pipeline: string, options: Options) => {
      const loading = { overrides: options.set, pluginFolders: options.plugins };
      const { plan, preflight, data, notes: found } = await checkPipeline(pipeline, loading);
      const notes = [...found, ...(await rewardNotes(plan, data)), ...(await memoryNotes(plan, preflight))];
      for (const note of notes) process.stderr.write(`${note}\n`);
      const place = await placeRun(plan, { ...options, run: options.id });
      if (!(await isPlanOf(place, plan)))
        throw new EverturnError("RUN_DIFFERS", { run: place.run, pipeline });
      await train({ ...place, temporal: options.temporal, json: options.json });
    });
}
