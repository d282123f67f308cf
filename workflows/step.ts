import type { BatchMember } from "../src/contracts/activities.ts";
import type { StepInput, StepResult } from "../src/contracts/run.ts";
import { failure } from "./failure.ts";
import type { SampledTrajectory } from "./group-variance.ts";
import { sampleBatch } from "./sample-batch.ts";
import { schedule } from "./schedule.ts";
import { mean, stepRecord } from "./step-record.ts";

/** One policy-gradient step: a batch of trajectories, the update, the new version published, the step recorded. */
export async function step(input: StepInput): Promise<StepResult> {
  const { run, policyVersion, queues } = input;
  const clock = [Date.now()];
  const sampled = await sampleBatch(input);
  clock.push(Date.now());
  const batch = sampled.batch.map(member);
  if (batch.length === 0) {
    throw failure("BATCH_EMPTY", {
      run,
      step: input.step,
      reason: sampled.results[0]?.failure ?? "no tasks",
    });
  }
  const trained = await schedule(queues, "train-step", { run, step: input.step, policyVersion, batch });
  clock.push(Date.now());
  await schedule(queues, "publish-policy", { run, policyVersion: trained.policyVersion });
  clock.push(Date.now());
  const record = stepRecord(input, sampled, trained, clock);
  await schedule(queues, "record-step", { run, record });
  return {
    policyVersion: trained.policyVersion,
    trajectories: batch.length,
    leftOut: record.leftOut,
    rewardMean: mean(batch.map((one) => one.reward)),
    turnSeconds: turnSeconds(sampled.batch),
  };
}

function turnSeconds(sampled: SampledTrajectory[]): number {
  return mean(sampled.map(({ result }) => result.generationSeconds / Math.max(1, result.turns.length)));
}

function member({ group, head, result }: SampledTrajectory): BatchMember {
  const { trajectory, reward, turnRewards } = result;
  return { trajectory, head, reward, group, ...(turnRewards === undefined ? {} : { turnRewards }) };
}
