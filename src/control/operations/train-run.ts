import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { displayPath } from "../../base/validation/place.ts";
import type { PlanChange } from "../../contracts/plan.ts";
import type { TrainingResult } from "../../contracts/run.ts";
import type { TrackedEnding } from "../../contracts/tracker.ts";
import { checkExampleFile, exampleFile } from "../../plan/pipeline/read/example-files.ts";
import { changedSources } from "../../plugin/define/digest.ts";
import { writeReport } from "../../results/report/write-report.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { lastRecordedStep } from "../../run/folder/recorded-steps.ts";
import type { RunReference } from "../../run/folder/run-reference.ts";
import { changeRun } from "../supervision/change-run.ts";
import type { SupervisedRun } from "../supervision/supervised-run.ts";
import { finishTraining, startTraining } from "../supervision/training-handle.ts";
import { withSupervisedRun } from "../supervision/with-supervised-run.ts";
import { runTrackers } from "../tracking/run-trackers.ts";
import { type RunEvent, serverEvent, type Told, telling } from "./events.ts";
import { follow } from "./follow.ts";
import { type Past, readPast } from "./past.ts";

/** How a run is trained. */
export interface TrainRun extends Told {
  temporal?: string | undefined;
  upgrade?: boolean | undefined;
  /** Changes to the plan: `path.to.key=value`. */
  set?: readonly string[] | undefined;
  isGuest?: boolean;
  /** Called with the run once this process holds it, before its plan is changed. */
  onHeld?: (run: OpenRun) => Promise<void>;
}

/**
 * Trains a run to its end from its current state: starts everything, reports progress, and writes the report. Throws
 * errors about changes to the plan or to files of examples (EXAMPLES_CHANGED), errors of the server, a worker or the
 * training, and INTERRUPTED.
 */
export function trainRun({ runs, run }: RunReference, options: TrainRun): Promise<TrainingResult> {
  const { temporal, upgrade = false, isGuest = false } = options;
  return telling(options, async ({ tell, signal }) => {
    const note = (text: string) => tell({ type: "note", text });
    let isPrepared = false; // the run opens again if its server moves to another port
    let past: Past = { steps: [], evaluations: [] };
    const prepare = async (opened: OpenRun) => {
      past = await readPast(opened);
      const prepared = isPrepared ? opened : await prepareTraining(opened, options, note);
      if (!isPrepared) tell({ type: "opened", plan: prepared.plan, past });
      isPrepared = true;
      note(`run ${run}: starting Temporal and the workers`);
      return prepared;
    };
    return withSupervisedRun({ runs, run, temporal, upgrade, prepare, note, signal, isGuest }, (supervised) =>
      tracked(supervised.opened, tell, (tracking) => trainIn(supervised, past, tracking)),
    );
  });
}

/**
 * Checks a run that this process holds and changes its plan. Throws EXAMPLES_CHANGED and the errors of `changeRun`.
 */
async function prepareTraining(
  run: OpenRun,
  { set = [], onHeld }: Pick<TrainRun, "set" | "onHeld">,
  note: (text: string) => void,
): Promise<OpenRun> {
  const { plan, store } = run;
  await onHeld?.(run);
  const steps = (await lastRecordedStep(store))?.step ?? 0;
  if (steps < plan.steps) checkExampleFile(plan, exampleFile(plan));
  for (const file of changedSources(plan)) note(changedSourceLine(file));
  const changed = set.length === 0 ? undefined : await changeRun(run, set);
  if (changed === undefined) return run;
  note(changeLine(changed.change));
  return { ...run, plan: changed.plan };
}

/** Runs `train` with a `tell` that also informs the run's trackers. */
async function tracked(
  run: OpenRun,
  tell: (event: RunEvent) => void,
  train: (tell: (event: RunEvent) => void) => Promise<TrainingResult>,
): Promise<TrainingResult> {
  if (run.plan.trackers === undefined) return train(tell);
  const note = (text: string) => tell({ type: "note", text });
  const trackers = await runTrackers(run, note);
  let ending: TrackedEnding = "failed";
  try {
    const result = await train((event) => {
      tell(event);
      if (event.type === "step") trackers.tellStep(event.record);
      if (event.type === "evaluation") trackers.tellEvaluation(event.record);
    });
    ending = "completed";
    return result;
  } catch (error) {
    if (isEverturnError(error) && error.code === "INTERRUPTED") ending = "interrupted";
    throw error;
  } finally {
    const untold = await trackers.close(ending);
    if (untold > 0)
      note(`trackers did not receive ${untold} of its results: run npx everturn track ${run.id}`);
  }
}

async function trainIn(
  supervised: SupervisedRun,
  past: Past,
  tell: (event: RunEvent) => void,
): Promise<TrainingResult> {
  const { opened: run } = supervised;
  const { plan } = run;
  tell(serverEvent(supervised));
  const start = () => startTraining(supervised, plan.changes?.length ?? 0);
  const handle = await start();
  const following = follow(supervised, run, past, handle, tell);
  let result: TrainingResult;
  try {
    result = await finishTraining(supervised, handle);
    // A workflow that was just ending when the plan changed ends with the earlier steps; the next one reads the plan.
    if (result.steps < plan.steps) result = await finishTraining(supervised, await start());
  } finally {
    await following.stop();
  }
  await writeReport(run);
  return result;
}

function changedSourceLine(file: string): string {
  return `${displayPath(file)} has changed since the plan was made: the run continues with the current file and the original plan`;
}

function changeLine({ changed }: PlanChange): string {
  const text = (value: unknown) => (value === undefined ? "off" : JSON.stringify(value));
  return `the plan changed: ${changed.map(({ key, from, to }) => `${key} ${text(from)} → ${text(to)}`).join(", ")}`;
}
