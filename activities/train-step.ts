import type { BatchMember, TrainStepInput } from "../src/contracts/activities.ts";
import type { TrainedStep, TrainStepResult } from "../src/contracts/ledger.ts";
import type { TrainingTrajectory } from "../src/contracts/trainer.ts";
import { leaveOutLate } from "../src/ledger/late-trajectories.ts";
import { leftBehind } from "../src/ledger/left-behind.ts";
import { saved, type TrainerStart, type TrainerWorker } from "../src/roles/trainer-worker.ts";
import type { OpenRun } from "../src/runs/open-runs.ts";
import { commitTree } from "../src/store/commit-tree.ts";
import { trainedStepKey, trajectoryKey } from "../src/store/keys.ts";
import { readSegments } from "../src/trajectory/segments.ts";
import { trainingTrajectory } from "../src/trajectory/training-trajectory.ts";
import { trajectoryOf } from "../src/trajectory/trajectory-of.ts";
import { firstVersion } from "../src/versions/first-version.ts";
import { policyPart, trainerPart } from "../src/versions/version-parts.ts";

/**
 * A policy-gradient step on a batch of finished trajectories: writes the next policy version, and with it what became
 * of each trajectory. Done once a step: the record is the commit, and says what the step was trained on, whatever a
 * later attempt is given. Throws ATTEMPT_SUPERSEDED.
 */
export function trainStep(worker: TrainerWorker) {
  return async (input: TrainStepInput): Promise<TrainStepResult> => {
    const { run, step, policyVersion, batch, leftOut } = input;
    const opened = await worker.openRun(run);
    const { store, plan } = opened;
    const next = policyVersion + 1;
    const key = trainedStepKey(step);
    const recorded = await store.readTree(key);
    if (recorded !== undefined) {
      await leaveOutLate(opened, step, recorded.value);
      return resultOf(recorded.value);
    }
    const temperature = trainedTemperature(plan);
    const started = performance.now();
    const loaded = await Promise.all(batch.map((member) => load(opened, member)));
    const others = await leftBehind(opened, [...batch, ...leftOut]);
    const trajectories = loaded.filter(({ tokens }) => tokens.length > 0); // others had no room for an action
    return worker.train({
      run,
      from: `policy ${policyVersion}`,
      to: `policy ${next}`,
      start: startAt(plan, policyVersion),
      work: async (trainer) => {
        const metrics = await trainer.policyGradientStep(trajectories, { temperature });
        const { value } = await commitTree(store, key, saved(trainer), () => ({
          ...{ step, from: policyVersion, policyVersion: next, metrics },
          trajectories: batch.map(({ trajectory, head, reward, group }) => ({
            ...{ trajectory, head, reward, group },
          })),
          leftOut: [...leftOut, ...others],
          seconds: (performance.now() - started) / 1000,
        }));
        return resultOf(value);
      },
    });
  };
}

function resultOf({ policyVersion, metrics, seconds }: TrainedStep): TrainStepResult {
  return { policyVersion, metrics, seconds };
}

/** The temperature of the policy that is trained: greedy actions are seen at 1. */
function trainedTemperature({ rollout }: OpenRun["plan"]): number {
  return rollout.temperature || 1;
}

async function load(run: OpenRun, member: BatchMember): Promise<TrainingTrajectory> {
  const { trajectory, head, reward, group } = member;
  const turnRewards = member.turnRewards ?? (await recordedTurnRewards(run, trajectory));
  const identity = { id: trajectory, reward, group, ...(turnRewards === undefined ? {} : { turnRewards }) };
  return trainingTrajectory(
    identity,
    await readSegments(run.store, trajectoryOf(trajectory), head),
    trainedTemperature(run.plan),
  );
}

async function recordedTurnRewards({ store }: OpenRun, trajectory: string): Promise<number[] | undefined> {
  return (await store.read(trajectoryKey(trajectoryOf(trajectory))))?.turnRewards;
}

/** The first step starts the optimizer and the value head anew; the reference is the policy it starts from. */
function startAt(plan: OpenRun["plan"], version: number): TrainerStart {
  const reference = firstVersion(plan);
  const start = { policy: policyPart(plan, version), reference: policyPart(plan, reference) };
  return version === reference ? start : { ...start, state: trainerPart(plan, version) };
}
