import type { TrainingResult } from "../contracts/run.ts";
import { writeReport } from "../report/write-report.ts";
import { openRun } from "../runs/open-runs.ts";
import { runFolder } from "../runs/run-folder.ts";
import type { RunSession } from "../temporal/session.ts";
import { finishTraining, startTraining } from "../temporal/training-handle.ts";
import { capabilityLine } from "./capabilities.ts";
import { follow } from "./follow.ts";
import { createView, type RunView } from "./live-view.ts";
import { withSession } from "./with-session.ts";

/** Drives a run to its end: brings everything up, shows the progress, writes the report, prints the summary. */
export async function train(options: {
  runs: string;
  run: string;
  temporal: string | undefined;
  upgrade?: boolean;
  json: boolean;
}): Promise<void> {
  const { runs, run, temporal, upgrade = false, json } = options;
  const { root, report } = runFolder(runs, run);
  const started = Date.now();
  const view = createView({ json });
  try {
    const { plan } = await openRun(runs, run);
    view.note(capabilityLine(plan));
    view.note(`run ${run}: starting Temporal and the workers`);
    const result = await withSession({ runs, run, temporal, upgrade, note: view.note }, (session) =>
      trainIn(session, view),
    );
    if (result === "interrupted") {
      view.note(`interrupted; nothing that was finished is lost: everturn resume ${run}`);
      process.exitCode = 130;
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
  const handle = await startTraining(session);
  const following = follow(session, handle, view);
  let result: TrainingResult;
  try {
    result = await finishTraining(session, handle);
  } finally {
    await following.stop();
  }
  await writeReport(session.folder);
  return result;
}

function jsonLine(result: TrainingResult, seconds: number) {
  const { run, accuracyWarmStart, accuracyBefore, accuracyAfter, steps, trajectories } = result;
  return { run, accuracyWarmStart, accuracyBefore, accuracyAfter, steps, trajectories, seconds };
}
