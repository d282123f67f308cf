import { setHandler } from "@temporalio/workflow";
import type { BatchMember } from "../src/contracts/activities.ts";
import type { StageProgress, StepInput, StepResult } from "../src/contracts/run.ts";
import { batchOf, hasFinished, leftOutOf } from "./ended-groups.ts";
import { failure } from "./failure.ts";
import { reasonOfAll } from "./failure-share.ts";
import { stageProgress } from "./progress.ts";
import { schedule } from "./schedule.ts";
import { mean, stepRecord } from "./step-record.ts";

/** One policy-gradient step on groups that have ended: the update, the new version published, the step recorded. */
export async function step(input: StepInput): Promise<StepResult> {
  const { run, policyVersion, queues, groups } = input;
  const clock = [input.since, Date.now()];
  const results = groups.flatMap((group) => group.results);
  const batch = batchOf(groups).map(({ group, head, result }): BatchMember => {
    const { trajectory, reward } = result;
    return { trajectory, head, reward, group };
  });
  if (batch.length === 0) {
    throw failure("BATCH_EMPTY", { run, step: input.step, reason: reasonOfAll(results) });
  }
  const leftOut = leftOutOf(groups);
  const progress: StageProgress = { phase: "train", done: 0, of: batch.length };
  setHandler(stageProgress, () => progress);
  const trained = await schedule(queues, "train-step", {
    ...{ run, step: input.step, policyVersion, batch, leftOut },
  });
  clock.push(Date.now());
  progress.phase = "publish";
  const published = { run, policyVersion: trained.policyVersion };
  await schedule(queues, "publish-policy", published, { isQuick: input.quickTurns });
  clock.push(Date.now());
  const record = stepRecord(input, groups, trained, clock);
  const finished = results.filter(hasFinished).map((result) => result.trajectory);
  await schedule(queues, "record-step", { run, record, finished }, { isQuick: true });
  return {
    policyVersion: trained.policyVersion,
    trajectories: batch.length,
    leftOut: record.leftOut,
    rewardMean: mean(batch.map((one) => one.reward)),
    turnSeconds: mean(
      results.filter(hasFinished).map((one) => one.generationSeconds / Math.max(1, one.turns)),
    ),
  };
}
