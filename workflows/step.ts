import { setHandler } from "@temporalio/workflow";
import type { BatchMember } from "../src/contracts/activities.ts";
import type { StepInput, StepResult } from "../src/contracts/run.ts";
import type { TrajectoryResult } from "../src/contracts/trajectory.ts";
import { failure } from "./failure.ts";
import { stageProgress } from "./progress.ts";
import { runTrajectories } from "./run-trajectories.ts";
import { schedule } from "./schedule.ts";
import { stepStage } from "./stages.ts";
import { mean, stepRecord } from "./step-record.ts";
import { samplesOf, trajectoryInput } from "./trajectory-input.ts";

/** One policy-gradient step: a batch of trajectories, the update, the new version published, the step recorded. */
export async function step(input: StepInput): Promise<StepResult> {
  const { run, settings, policyVersion, queues } = input;
  const clock = [Date.now()];
  const selected = await schedule(queues, "select-tasks", { run, step: input.step });
  const stage = stepStage(input.step);
  const inputs = samplesOf(selected, settings.groupSize).map(({ selected: task, sample }) =>
    trajectoryInput(task, { run, stage, step: input.step, sample }, policyVersion, settings, queues),
  );
  const progress = { done: 0, of: inputs.length };
  setHandler(stageProgress, () => progress);
  const results = await runTrajectories(inputs, settings.concurrency, (done) => {
    progress.done = done;
  });
  clock.push(Date.now());
  const batch = results.flatMap((result, index) => member(result, inputs[index]?.place.task ?? ""));
  if (batch.length === 0) {
    throw failure("BATCH_EMPTY", { run, step: input.step, reason: results[0]?.failure ?? "no tasks" });
  }
  const trained = await schedule(queues, "train-step", { run, step: input.step, policyVersion, batch });
  clock.push(Date.now());
  await schedule(queues, "publish-policy", { run, policyVersion: trained.policyVersion });
  clock.push(Date.now());
  const record = stepRecord(input, results, trained, clock);
  await schedule(queues, "record-step", { run, record });
  return {
    policyVersion: trained.policyVersion,
    trajectories: batch.length,
    leftOut: results.length - batch.length,
    rewardMean: mean(batch.map((one) => one.reward)),
  };
}

function member(result: TrajectoryResult, group: string): BatchMember[] {
  if (result.outcome === "left-out" || result.head === null) return [];
  return [{ trajectory: result.trajectory, head: result.head, reward: result.reward, group }];
}
