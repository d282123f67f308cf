import { ahead } from "../../base/async/ahead.ts";
import type { TrainedStep } from "../../contracts/ledger.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { Use } from "../../run/projections/parquet-rows.ts";
import { endingOf } from "../../run/projections/stored-records.ts";
import { foldedKey } from "../../run/store/keys.ts";
import { foldStep, type Member } from "../../run/trajectory/folded/fold-step.ts";
import { readRecords } from "../../run/trajectory/folded/read-records.ts";
import { recordsByKey } from "../../run/trajectory/folded/records-by-key.ts";
import { trajectoryOf } from "../../run/trajectory/trajectory-of.ts";
import { checkChain } from "../ledger/check-chain.ts";
import { readTrainedStep } from "../ledger/trained-steps.ts";

/** Trajectories of a step that are read at once. Each is held in memory as a whole. */
const trajectoriesAtOnce = 8;

/**
 * Folds a recorded step and those before it, back to one that is already folded. Returns the steps that it folded.
 */
export async function foldSteps(run: OpenRun, last: number): Promise<number[]> {
  const steps: number[] = [];
  for (let step = last; step > 0 && !(await isFolded(run, step)); step--) steps.unshift(step);
  for (const step of steps) await fold(run, step);
  return steps;
}

/** Whether a step's trajectories are in its file. */
export async function isFolded({ store }: Pick<OpenRun, "store">, step: number): Promise<boolean> {
  return (await store.readTree(foldedKey(step))) !== undefined;
}

async function fold(run: OpenRun, step: number): Promise<void> {
  const trained = await readTrainedStep(run, step);
  if (trained !== undefined) await foldStep(run.store, step, () => membersOf(run, step, trained));
}

/**
 * The ended trajectories in a step's commit. One whose chain of segments is broken keeps its single records, for the
 * ledger to report.
 */
async function* membersOf(
  { store }: OpenRun,
  step: number,
  { trajectories, leftOut }: TrainedStep,
): AsyncGenerator<Member> {
  const uses: [trajectory: string, use: Use][] = [
    ...trajectories.map(({ trajectory }): [string, Use] => [trajectory, { trainedStep: step }]),
    ...leftOut.map(({ trajectory, reason }): [string, Use] => [trajectory, { leftOutBecause: reason }]),
  ];
  uses.sort(([one], [other]) => (one < other ? -1 : 1));
  const members = ahead(uses, trajectoriesAtOnce, ([trajectory, use]) => memberOf(store, trajectory, use));
  for await (const member of members) if (member !== undefined) yield member;
}

async function memberOf(store: OpenRun["store"], trajectory: string, use: Use): Promise<Member | undefined> {
  const name = trajectoryOf(trajectory);
  const records = await readRecords(store, name);
  const ending = endingOf(records);
  if (ending === undefined) return undefined;
  const read = new Map(recordsByKey(name, records));
  const findings = await checkChain({ read: async ({ path }) => read.get(path) }, trajectory, ending);
  return ending.outcome === "left-out" || findings.length === 0 ? { name, records, ending, use } : undefined;
}
