import type { TrainingResult } from "../contracts/run.ts";
import { writeReport } from "../report/write-report.ts";
import { openSession } from "../temporal/session.ts";
import { finishTraining, startTraining } from "../temporal/training-handle.ts";
import { follow } from "./follow.ts";
import { interruption } from "./interruption.ts";
import { createView } from "./live-view.ts";

/** Drives a run to its end: brings everything up, shows the progress, writes the report, prints the summary. */
export async function train(options: {
  runs: string;
  run: string;
  temporal: string | undefined;
  json: boolean;
}): Promise<void> {
  const { runs, run, json } = options;
  const started = Date.now();
  const view = createView({ json, stream: json ? process.stderr : process.stdout });
  const interrupted = interruption();
  view.note(`run ${run}: starting Temporal and the workers`);
  const session = await openSession({ runs, run, temporal: options.temporal });
  try {
    view.note(session.ui === undefined ? `Temporal at ${session.address}` : `Temporal UI at ${session.ui}`);
    const handle = await startTraining(session);
    const following = follow(session, handle, view);
    try {
      const result = await Promise.race([
        finishTraining(session, handle),
        session.failed,
        interrupted.promise,
      ]);
      await following.stop();
      if (result === "interrupted") {
        view.note(`interrupted; nothing that was finished is lost: everturn resume ${run}`);
        process.exitCode = 130;
        return;
      }
      await writeReport(session.folder);
      const seconds = (Date.now() - started) / 1000;
      view.end({ ...result, seconds, folder: session.folder.root, report: session.folder.report });
      if (json) process.stdout.write(`${JSON.stringify(jsonLine(result, seconds))}\n`);
    } finally {
      await following.stop();
    }
  } finally {
    view.close();
    await session.close();
    interrupted.release();
  }
}

function jsonLine(result: TrainingResult, seconds: number) {
  const { run, accuracyWarmStart, accuracyBefore, accuracyAfter, steps, trajectories } = result;
  return { run, accuracyWarmStart, accuracyBefore, accuracyAfter, steps, trajectories, seconds };
}
