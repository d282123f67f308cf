import type { Command } from "commander";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { rejoinRun } from "../../../run/folder/rejoin-run.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { joinRuns } from "../../../run/folder/store-runs.ts";
import { collect } from "../terminal/option-values.ts";
import { train } from "./train.ts";

interface Options {
  runs: string;
  temporal?: string;
  upgrade: boolean;
  set: string[];
  json: boolean;
}

/** `everturn resume <run>`: continues a run after everything was killed. */
export function registerResume(program: Command): void {
  program
    .command("resume")
    .description("continue an interrupted run without repeating finished work")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .option("--temporal <path>", "Temporal CLI that starts the dev server")
    .option(
      "--set <key=value>",
      "change the plan, for example steps=40; also works for a finished run (repeatable)",
      collect,
      [],
    )
    .option(
      "--upgrade",
      "switch to the current workflow code; running workflows finish on the code they started with",
      false,
    )
    .option("--json", "print the result as one line of JSON", false)
    .action(async (named: string, options: Options) => {
      const { runs, run } = runReference(named, options.runs);
      if (!(await rejoinRun({ runs, run }))) await joinRuns(runs);
      await openRunFolder(runs, run);
      await train({ ...options, runs, run, temporal: options.temporal, isResumed: true });
    });
}
