import type { Command } from "commander";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { counted } from "../../../base/text/format.ts";
import { runTrackers } from "../../../control/tracking/run-trackers.ts";
import { openRunFolder } from "../../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../../run/folder/recorded-steps.ts";
import { runReference } from "../../../run/folder/run-reference.ts";

/** `everturn track <run>`: sends results that its trackers missed. It needs no server. */
export function registerTrack(program: Command): void {
  program
    .command("track")
    .description("send results that the run's trackers missed, for example after an outage")
    .argument("<run>", "id of the run, or path of its folder")
    .option("--runs <folder>", "folder that contains the runs", "runs")
    .action(track);
}

async function track(named: string, options: { runs: string }): Promise<void> {
  const { runs, run } = runReference(named, options.runs);
  const opened = await openRunFolder(runs, run);
  const { plan, store } = opened;
  if (plan.trackers === undefined) throw new EverturnError("RUN_WITHOUT_TRACKERS", { run });
  const trackers = await runTrackers(opened, (text) => void process.stderr.write(`${text}\n`));
  const isDone = (await lastRecordedStep(store))?.step === plan.steps;
  const untold = await trackers.close(isDone ? "completed" : "interrupted");
  if (untold > 0) throw new EverturnError("TRACKER_FAILED", { run, untold });
  process.stdout.write(`${counted(plan.trackers.length, "tracker")} of ${run} has all that is recorded\n`);
}
