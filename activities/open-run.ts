import { defined } from "../src/base/records/defined.ts";
import type { RunActivities } from "../src/contracts/activities.ts";
import type { StepRecord } from "../src/contracts/generated/step-record.ts";
import type { TrainingProgress } from "../src/contracts/run.ts";
import { runSettings } from "../src/plan/pipeline/resolve/run-settings.ts";
import type { RunTasks } from "../src/plan/tasks/run-tasks.ts";
import { committedGroups } from "../src/results/recovery/committed-groups.ts";
import { rolloutProgress } from "../src/results/recovery/rollout-progress.ts";
import { firstAndLastEvaluations } from "../src/run/folder/evaluations.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { lastRecordedStep } from "../src/run/folder/recorded-steps.ts";
import { isWhole } from "../src/run/store/is-whole.ts";
import { firstVersion } from "../src/run/versions/first-version.ts";
import { policyPart, trainerPart, versionKey } from "../src/run/versions/version-parts.ts";

/**
 * Returns the training workflow's settings, and how far the run has come on disk if the workflow does not
 * know it.
 */
export function openRunActivity(
  openRun: (run: string) => Promise<OpenRun>,
  tasks: RunTasks,
): RunActivities["open-run"] {
  return async ({ run, knowsProgress }) => {
    const opened = await openRun(run);
    const settings = runSettings(opened.plan);
    if (knowsProgress) return { settings };
    const progress = await progressOf(opened);
    if (settings.staleness > 0) {
      return { settings, progress: { ...progress, rollout: await rolloutProgress(opened, tasks, progress) } };
    }
    const committed = await committedGroups(opened, progress.nextStep);
    return { settings, progress: committed === undefined ? progress : { ...progress, committed } };
  };
}

/**
 * The last recorded step whose version is intact. A step whose files broke is repeated. It makes the same
 * version from the trajectories it was committed with, the previous version and the trainer's state.
 */
async function lastWholeStep(run: OpenRun): Promise<StepRecord | undefined> {
  let last = await lastRecordedStep(run.store);
  while (last !== undefined && !(await isVersionWhole(run, firstVersion(run.plan) + last.step))) {
    last = await lastRecordedStep(run.store, last.step - 1);
  }
  return last;
}

/**
 * Whether a recorded version was committed and its files are unchanged. Reads the files, because a file may
 * change without changing its size.
 */
async function isVersionWhole({ plan, store }: OpenRun, version: number): Promise<boolean> {
  if ((await store.treeRecord(versionKey(plan, version))) === undefined) return false;
  return (
    (await isWhole(store, policyPart(plan, version))) && (await isWhole(store, trainerPart(plan, version)))
  );
}

/**
 * Whether version 0, or the version that the steps began with, is broken or lost its record. Their trainer's
 * state does not count, because nothing reads it.
 */
async function areFirstBroken({ plan, store }: OpenRun, wereMade: boolean): Promise<boolean> {
  for (const version of new Set([0, firstVersion(plan)])) {
    const isLost = (await store.treeRecord(versionKey(plan, version))) === undefined;
    if (isLost ? wereMade : !(await isWhole(store, policyPart(plan, version)))) return true;
  }
  return false;
}

async function progressOf(run: OpenRun): Promise<TrainingProgress> {
  const last = await lastWholeStep(run);
  const first = firstVersion(run.plan);
  const isFirstBroken = await areFirstBroken(run, last !== undefined);
  const isWarm =
    first === 1 && !isFirstBroken && (await firstAndLastEvaluations(run, 1)).at(-1)?.policyVersion === 1;
  const policyVersion = last?.policyVersion ?? (isWarm ? 1 : 0);
  return defined({
    nextStep: (last?.step ?? 0) + 1,
    policyVersion,
    evaluations: await firstAndLastEvaluations(run, policyVersion),
    trajectories: last?.trajectoriesSoFar ?? 0,
    isFirstBroken: isFirstBroken ? true : undefined,
  });
}
