import type { Command } from "commander";
import { openRun } from "../../../run/folder/open-runs.ts";
import { runReference } from "../../../run/folder/run-reference.ts";
import { collect } from "../terminal/option-values.ts";
import { train } from "./train.ts";

interface Options {
  runs: string;
  temporal?: string;
  upgrade: boolean;
  set: string[];
  json: boolean;
}

/** `everturn resume <run>`: goes on after everything was killed. */
export function registerResume(program: Command): void {
  program
    .command("resume")
    .description("go on with a run that was interrupted; nothing that was finished is done again")
    .argument("<run>", "the run's id, or the path of its folder")
    .option("--runs <folder>", "where runs are kept", "runs")
    .option("--temporal <path>", "Temporal CLI to start the dev server with")
    .option(
      "--set <key=value>",
      "change the plan, such as steps=40, also of a run that has ended (repeatable)",
      collect,
      [],
    )
    .option(
      "--upgrade",
      "go on with today's workflow code: what is under way ends on the code it began with",
      false,
    )
    .option("--json", "end with one line of JSON on standard output", false)
    .action(async (named: string, options: Options) => {
      const { runs, run } = runReference(named, options.runs);
      await openRun(runs, run);
      await train({ ...options, runs, run, temporal: options.temporal, isResumed: true });
    });
}
