import type { TrainStepResult } from "../src/contracts/activities.ts";
import type { StepRecord } from "../src/contracts/generated/step-record.ts";
import type { StepInput } from "../src/contracts/run.ts";
import type { TrajectoryResult } from "../src/contracts/trajectory.ts";

/**
 * The step's line of `metrics.jsonl`. `clock` holds the times (ms) at which rollout began, training began,
 * publishing began, and all was done. Means are over the batch: trajectories left out are only counted.
 */
export function stepRecord(
  input: StepInput,
  results: TrajectoryResult[],
  trained: TrainStepResult,
  clock: number[],
): StepRecord {
  const batch = results.filter((result) => result.outcome !== "left-out");
  const calls = sum(batch.map((result) => result.toolCalls));
  const [start = 0, rolledOut = 0, trainedAt = 0, published = 0] = clock;
  return {
    step: input.step,
    policyVersion: trained.policyVersion,
    staleness: Math.max(0, ...batch.map((result) => input.policyVersion - result.policyVersion)),
    trajectories: batch.length,
    leftOut: results.length - batch.length,
    rewardMean: mean(batch.map((result) => result.reward)),
    successRate: mean(batch.map((result) => Number(result.success))),
    toolCallRate: mean(batch.map((result) => Number(result.toolCalls > 0))),
    validCallRate: calls === 0 ? 1 : sum(batch.map((result) => result.validCalls)) / calls,
    ...trained.metrics,
    tokens: {
      prompt: sum(batch.map((result) => result.tokens.prompt)),
      action: sum(batch.map((result) => result.tokens.action)),
      observation: sum(batch.map((result) => result.tokens.observation)),
    },
    actionLength: mean(batch.map((result) => result.tokens.action)),
    turns: mean(batch.map((result) => result.turns.length)),
    seconds: {
      rollout: (rolledOut - start) / 1000,
      train: (trainedAt - rolledOut) / 1000,
      publish: (published - trainedAt) / 1000,
      total: (published - start) / 1000,
    },
  };
}

/** The mean; 0 of nothing. */
export function mean(values: number[]): number {
  return values.length === 0 ? 0 : sum(values) / values.length;
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
