import { setHandler } from "@temporalio/workflow";
import { defined } from "../src/base/records/defined.ts";
import { mean } from "../src/base/statistics/mean.ts";
import type { BatchMember } from "../src/contracts/ledger.ts";
import type { StageProgress, StepInput, StepResult } from "../src/contracts/run.ts";
import { batchOf, hasFinished, leftOutOf, withoutUnreadable } from "./ended-groups.ts";
import { failure } from "./failure.ts";
import { reasonOfAll } from "./failure-share.ts";
import { stageProgress } from "./progress.ts";
import { schedule } from "./schedule.ts";
import { exampleStepRecord, stepRecord } from "./step-record.ts";
import { trainTogether } from "./train-together.ts";

/** Takes one step: updates the policy, publishes the new version and records the step. */
export async function step(input: StepInput): Promise<StepResult> {
  return input.settings.trainsOnExamples === true ? stepOnExamples(input) : stepOnGroups(input);
}

/** Trains on groups that have ended. */
async function stepOnGroups(input: StepInput): Promise<StepResult> {
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
  const trained = await trainTogether(
    queues,
    input.settings.portions ?? 1,
    defined({
      run,
      step: input.step,
      policyVersion,
      batch,
      leftOut,
      minGroup: input.settings.minGroup,
      cursor: input.cursor,
    }),
  );
  clock.push(Date.now());
  progress.phase = "publish";
  const published = { run, policyVersion: trained.policyVersion };
  await schedule(queues, "publish-policy", published, { isQuick: input.quickTurns });
  clock.push(Date.now());
  const read = withoutUnreadable(groups, trained.unreadable);
  const record = stepRecord(input, read, trained, clock);
  const finished = read.flatMap((group) => group.results).filter(hasFinished);
  const stop = await schedule(
    queues,
    "record-step",
    { run, record, finished: finished.map(({ trajectory }) => trajectory), clock },
    { isQuick: true },
  );
  return defined({
    policyVersion: trained.policyVersion,
    trajectories: record.trajectories,
    leftOut: record.leftOut,
    rewardMean: mean(batchOf(read).map(({ result }) => result.reward)),
    turnSeconds: mean(finished.map((one) => one.generationSeconds / Math.max(1, one.turns))),
    stop,
  });
}

/** Trains on examples, which the trainer reads itself. */
async function stepOnExamples(input: StepInput): Promise<StepResult> {
  const { run, policyVersion, queues } = input;
  const clock = [Date.now()];
  const progress: StageProgress = { phase: "train", done: 0, of: 1 };
  setHandler(stageProgress, () => progress);
  const trained = await schedule(queues, "train-examples", { run, step: input.step, policyVersion });
  clock.push(Date.now());
  progress.phase = "publish";
  const published = { run, policyVersion: trained.policyVersion };
  await schedule(queues, "publish-policy", published, { isQuick: input.quickTurns });
  clock.push(Date.now());
  const record = exampleStepRecord(input.step, trained, clock);
  const stop = await schedule(queues, "record-step", { run, record, finished: [], clock }, { isQuick: true });
  return defined({ policyVersion: trained.policyVersion, trajectories: 0, leftOut: 0, rewardMean: 0, stop });
}
