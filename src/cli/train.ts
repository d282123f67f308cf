import { dirname } from "node:path";
import type { PlanChange } from "../contracts/plan.ts";
import type { TrainingResult } from "../contracts/run.ts";
import { changedSources } from "../definitions/digest.ts";
import { writeReport } from "../report/write-report.ts";
import { openRun } from "../runs/open-runs.ts";
import { runFolder } from "../runs/run-folder.ts";
import { changeRun } from "../supervision/change-run.ts";
import type { RunSession } from "../supervision/session.ts";
import { finishTraining, startTraining } from "../supervision/training-handle.ts";
import { displayPath } from "../validation/place.ts";
import { capabilityLine } from "./capabilities.ts";
import { follow } from "./follow.ts";
import { createView } from "./live-view.ts";
import type { RunView } from "./run-view.ts";
import { withSession } from "./with-session.ts";

/** Drives a run to its end: brings everything up, shows the progress, writes the report, prints the summary. */
export async function train(options: {
  runs: string;
  run: string;
  temporal: string | undefined;
  upgrade?: boolean;
  /** Changes of the plan: `path.to.key=value`. */
  set?: readonly string[];
  json: boolean;
}): Promise<void> {
  const { runs, run, temporal, upgrade = false, set = [], json } = options;
  const { root, report } = runFolder(runs, run);
  const started = Date.now();
  const view = createView({ json });
  try {
    const opened = await openRun(runs, run);
    view.note(capabilityLine(opened.plan));
    for (const file of changedSources(opened.plan)) view.note(changedSourceLine(file));
    const held = async () => {
      const change = set.length === 0 ? undefined : await changeRun(opened, set);
      if (change !== undefined) view.note(changeLine(change));
      view.note(`run ${run}: starting Temporal and the workers`);
    };
    const result = await withSession(
      { runs, run, temporal, upgrade, held, note: view.note },
      (session) => trainIn(session, view),
      {
        farewell: () => {
          view.note(`interrupted; nothing that was finished is lost: npx everturn resume ${run}`);
          view.close();
        },
      },
    );
    if (result === "interrupted") {
      if (json) process.stdout.write(`${JSON.stringify({ run, interrupted: true })}\n`);
      return;
    }
    const seconds = (Date.now() - started) / 1000;
    view.end({ ...result, seconds, folder: root, report });
    if (json) process.stdout.write(`${JSON.stringify(jsonLine(result, seconds))}\n`);
  } finally {
    view.close();
  }
}

async function trainIn(session: RunSession, view: RunView): Promise<TrainingResult> {
  view.note(session.ui === undefined ? `Temporal at ${session.address}` : `Temporal UI at ${session.ui}`);
  const { plan, store } = await openRun(dirname(session.folder.root), session.run);
  const start = () => startTraining(session, plan.changes?.length ?? 0);
  const handle = await start();
  const following = follow(session, store, handle, view);
  let result: TrainingResult;
  try {
    result = await finishTraining(session, handle);
    // A workflow of 0.3 ends with the steps that it began with; the next one reads the plan.
    if (result.steps < plan.steps) result = await finishTraining(session, await start());
  } finally {
    await following.stop();
  }
  await writeReport(session.folder);
  return result;
}

function changedSourceLine(file: string): string {
  return `${displayPath(file)} is not what it was when the plan was made: the run goes on with it as it is now, and with the manifest of then`;
}

function changeLine({ changed }: PlanChange): string {
  const text = (value: unknown) => (value === undefined ? "off" : JSON.stringify(value));
  return `the plan changed: ${changed.map(({ key, from, to }) => `${key} ${text(from)} → ${text(to)}`).join(", ")}`;
}

function jsonLine(result: TrainingResult, seconds: number) {
  const { run, accuracyWarmStart, accuracyBefore, accuracyAfter, steps, trajectories } = result;
  return { run, accuracyWarmStart, accuracyBefore, accuracyAfter, steps, trajectories, seconds };
}
