import { hash } from "node:crypto";
import { EverturnError } from "../src/base/errors/everturn-error.ts";
import { defined } from "../src/base/records/defined.ts";
import type { TrainStepInput } from "../src/contracts/activities.ts";
import type { BatchMember, TrainedStep, TrainStepResult } from "../src/contracts/ledger.ts";
import type { PolicyGradientSettings } from "../src/contracts/trainer.ts";
import type { Report } from "../src/control/temporal/durable.ts";
import { leaveOutLate } from "../src/results/ledger/late-trajectories.ts";
import { leftBehind } from "../src/results/ledger/left-behind.ts";
import type { OpenRun } from "../src/run/folder/open-runs.ts";
import { commitTree } from "../src/run/store/commit-tree.ts";
import { recordedStepKey, trainedStepKey } from "../src/run/store/keys.ts";
import { trajectoryReader } from "../src/run/trajectory/reader.ts";
import { readBatch } from "../src/run/trajectory/training-batch.ts";
import { type SharedStep, sharePortions } from "../src/work/workers/portion-sharing.ts";
import { saved, type TrainerWorker, trainerStart } from "../src/work/workers/trainer-worker.ts";

/**
 * Takes a policy-gradient step on a batch of finished trajectories. Writes the next policy version together
 * with the step's record, which lists how each trajectory was used. The record is the commit: a committed
 * step is not repeated, whatever batch a later attempt gets. Unreadable trajectories are left out with the
 * reason. Throws ATTEMPT_SUPERSEDED, BATCH_EMPTY.
 */
export function trainStep(worker: TrainerWorker) {
  return async (input: TrainStepInput, _: AbortSignal, report: Report): Promise<TrainStepResult> => {
    const { run, step, policyVersion, batch, leftOut, minGroup, cursor } = input;
    const opened = await worker.openRun(run);
    const { store, plan } = opened;
    const next = policyVersion + 1;
    const key = trainedStepKey(step);
    const recorded = await store.readTree(key);
    if (recorded !== undefined) {
      await leaveOutLate(opened, step, recorded.value);
      return resultOf(recorded.value, batch);
    }
    const temperature = trainedTemperature(plan);
    const started = performance.now();
    // A recorded step whose version broke is repeated. Its trajectories may be in a step's file by now.
    const reads = (await store.has(recordedStepKey(step))) ? trajectoryReader(opened) : store;
    const { members, trajectories, unreadable } = await readBatch(reads, batch, { temperature, minGroup });
    const [lost] = unreadable;
    if (members.length === 0 && lost !== undefined) {
      const reason = `${batch.length} of ${batch.length}, such as ${lost.trajectory}: ${lost.reason}`;
      throw new EverturnError("BATCH_EMPTY", { run, step, reason });
    }
    const others = await leftBehind(opened, [...batch, ...leftOut]);
    const sharing = sharedStep(opened, input, members);
    const acting = trajectories.filter(({ tokens }) => tokens.length > 0); // the others had no room for an action
    return worker.train({
      run,
      from: `policy ${policyVersion}`,
      to: `policy ${next}`,
      start: trainerStart(plan, policyVersion),
      work: async (trainer) => {
        const settings = defined<PolicyGradientSettings>({ temperature, onProgress: report, sharing });
        const metrics = await trainer.policyGradientStep(acting, settings);
        report("the next version is saved");
        const commit = async () => {
          const { value } = await commitTree(store, key, saved(trainer), () =>
            defined({
              step,
              from: policyVersion,
              policyVersion: next,
              metrics,
              trajectories: members.map(({ trajectory, head, reward, group }) => ({
                trajectory,
                head,
                reward,
                group,
              })),
              leftOut: [...leftOut, ...unreadable, ...others],
              cursor,
              server: trainer.serverStep?.(),
              batch: sharing?.batch,
              seconds: (performance.now() - started) / 1000,
            }),
          );
          return value;
        };
        return resultOf(await (sharing ? sharing.commit(commit) : commit()), batch);
      },
    });
  };
}

/** How trainers share a step. Undefined if they don't. */
function sharedStep(
  { store, plan }: OpenRun,
  { step, policyVersion }: TrainStepInput,
  members: readonly BatchMember[],
): (SharedStep & { batch: string }) | undefined {
  const { trainer, seed } = plan;
  const { portions, config, loss } = trainer;
  if (portions === undefined) return undefined;
  const madeFrom = [policyVersion, members, seed, trainedTemperature(plan), config, loss?.config];
  const batch = hash("sha256", JSON.stringify(madeFrom)).slice(0, 16);
  return { batch, ...sharePortions(store, { step, batch, portions }) };
}

/** The result names the unreadable trajectories among those that the step received. */
function resultOf(
  { policyVersion, metrics, seconds, leftOut }: TrainedStep,
  batch: TrainStepInput["batch"],
): TrainStepResult {
  const given = new Set(batch.map(({ trajectory }) => trajectory));
  const unreadable = leftOut.filter(({ trajectory }) => given.has(trajectory));
  return defined({
    policyVersion,
    metrics,
    seconds,
    unreadable: unreadable.length === 0 ? undefined : unreadable,
  });
}

/** The sampling temperature of the trained policy. Greedy actions are evaluated at 1. */
function trainedTemperature({ rollout }: OpenRun["plan"]): number {
  return rollout.temperature || 1;
}
