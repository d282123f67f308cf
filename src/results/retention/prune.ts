import { ahead } from "../../base/async/ahead.ts";
import { collected } from "../../base/async/collected.ts";
import { defined } from "../../base/records/defined.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { type Swept, sweepRun } from "../../run/folder/sweep.ts";
import { objectsAtOnce } from "../../run/store/at-once.ts";
import { foldedKey, recordedStepKey, type TrajectoryName, trajectoryPrefix } from "../../run/store/keys.ts";
import { listed } from "../../run/store/listed.ts";
import { lengthOfRow } from "../../run/store/row.ts";
import { foldedPrefix } from "../../run/trajectory/folded/folded-path.ts";
import { trajectoriesPrefix, trajectoryIn } from "../../run/trajectory/listed-trajectories.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";
import { readTrainedStep } from "../ledger/trained-steps.ts";
import { deleteCheckpoints } from "./delete-checkpoints.ts";
import { foldSteps, isFolded } from "./fold-steps.ts";
import { type FreedVersion, freeVersions } from "./free-versions.ts";
import { removePortions } from "./remove-portions.ts";

/** The things that were pruned, or would be. */
export interface Pruned {
  /** Steps whose trajectories were put into a file. */
  folded: number[];
  /** The number of trajectories whose single records were removed, and of these records. */
  trajectories: number;
  records: number;
  versions: FreedVersion[];
  /** Checkpoints on a training server that were deleted. */
  checkpoints: string[];
  /** Leftovers of killed processes; absent in a dry run, which does not look for them. */
  swept?: Swept;
}

/**
 * Frees everything that retention allows, but nothing that a continued run may need. It can be repeated after a kill
 * at any point. With `isDry` it only returns what it would do. Throws CHECKPOINTS_NOT_DELETED after everything else is
 * done.
 */
export async function prune(run: OpenRun, { isDry = false } = {}): Promise<Pruned> {
  const { store, plan } = run;
  const last = await lengthOfRow(store, recordedStepKey);
  if (!isDry) await removePortions(run, upTo(last)); // first, because the rest needs room on the disk
  const folded = await foldAll(run, last, isDry);
  const freed = await freeAll(run, last - plan.retention.singleRecords, isDry);
  const versions = await freeVersions(run, { last, isDry });
  const swept = isDry ? undefined : await sweepRun(run, { isWhole: true });
  const checkpoints = await deleteCheckpoints(run, { last, isDry });
  return defined({ folded, ...freed, versions, checkpoints, swept });
}

async function foldAll(run: OpenRun, last: number, isDry: boolean): Promise<number[]> {
  const looked = await collected(
    ahead(upTo(last), objectsAtOnce, async (step) => ({ step, isDone: await isFolded(run, step) })),
  );
  const folded = looked.flatMap(({ step, isDone }) => (isDone ? [] : [step]));
  for (const step of isDry ? [] : folded) await foldSteps(run, step);
  return folded;
}

/** The steps up to `last`. */
function upTo(last: number): number[] {
  return Array.from({ length: Math.max(0, last) }, (_, before) => before + 1);
}

/** Removes the single records of trajectories that are in the files of steps up to `last`. */
async function freeAll(run: OpenRun, last: number, isDry: boolean) {
  const freed = { trajectories: 0, records: 0 };
  let before = "";
  const removals = ahead(foldedRecords(run, last, isDry), objectsAtOnce, async ({ path, prefix }) => {
    if (!isDry) await run.store.remove({ path });
    return prefix;
  });
  for await (const prefix of removals) {
    if (prefix !== before) freed.trajectories++;
    before = prefix;
    freed.records++;
  }
  return freed;
}

/**
 * The listed records of that kind, including those of late writers, with the prefix of their trajectory, one stage
 * at a time.
 */
async function* foldedRecords(run: OpenRun, last: number, isDry: boolean) {
  const stepsOf = await stepsOfStages(run, last, isDry);
  let stage: string | undefined;
  let inFiles = new Set<string>();
  for await (const path of listed(run.store, trajectoriesPrefix())) {
    const prefix = foldedPrefix(path);
    const found = prefix === undefined ? undefined : trajectoryIn(path);
    if (prefix === undefined || found === undefined) continue;
    if (found.stage !== stage) {
      stage = found.stage;
      const names = await Promise.all((stepsOf.get(stage) ?? []).map((step) => namesOf(run, step, isDry)));
      inFiles = new Set(names.flat().map((name) => trajectoryPrefix(name).prefix));
    }
    if (inFiles.has(prefix)) yield { path, prefix };
  }
}

/** The steps whose files have trajectories of each stage. */
async function stepsOfStages(run: OpenRun, last: number, isDry: boolean): Promise<Map<string, number[]>> {
  const steps = new Map<string, number[]>();
  const looked = ahead(upTo(last), objectsAtOnce, async (step) => ({
    step,
    names: await namesOf(run, step, isDry),
  }));
  for await (const { step, names } of looked) {
    for (const stage of new Set(names.map((name) => name.stage)))
      steps.set(stage, [...(steps.get(stage) ?? []), step]);
  }
  return steps;
}

/** The trajectories in a step's file; in a dry run those that would be in it. */
async function namesOf(run: OpenRun, step: number, isDry: boolean): Promise<readonly TrajectoryName[]> {
  const tree = await run.store.readTree(foldedKey(step));
  if (tree !== undefined) return tree.value.trajectories;
  const trained = isDry ? await readTrainedStep(run, step) : undefined;
  return (trained?.trajectories ?? []).map(({ trajectory }) => trajectoryOf(trajectory));
}
