import type { TrainStepResult } from "../src/contracts/activities.ts";
import type { StepRecord } from "../src/contracts/generated/step-record.ts";
import type { StepInput } from "../src/contracts/run.ts";
import type { SampledBatch } from "./sample-batch.ts";

/**
 * The step's line of `metrics.jsonl`. `clock` holds the times (ms) at which rollout began, training began,
 * publishing began, and all was done. Means are over all trajectories that finished, those of groups without
 * variance included; trajectories left out are only counted.
 */
export function stepRecord(
  input: StepInput,
  sampled: Pick<SampledBatch, "results" | "groupsLeftOut"> & { batch: readonly unknown[] },
  trained: TrainStepResult,
  clock: number[],
): StepRecord {
  const { results, groupsLeftOut } = sampled;
  const finished = results.filter((result) => result.outcome !== "left-out");
  const calls = sum(finished.map((result) => result.toolCalls));
  const [start = 0, rolledOut = 0, trainedAt = 0, published = 0] = clock;
  return {
    step: input.step,
    policyVersion: trained.policyVersion,
    staleness: Math.max(0, ...finished.map((result) => input.policyVersion - result.policyVersion)),
    trajectories: sampled.batch.length,
    leftOut: results.length - finished.length,
    ...(groupsLeftOut === undefined ? {} : { groupsLeftOut }),
    rewardMean: mean(finished.map((result) => result.reward)),
    successRate: mean(finished.map((result) => Number(result.success))),
    toolCallRate: mean(finished.map((result) => Number(result.toolCalls > 0))),
    validCallRate: calls === 0 ? 1 : sum(finished.map((result) => result.validCalls)) / calls,
    ...trained.metrics,
    tokens: {
      prompt: sum(finished.map((result) => result.tokens.prompt)),
      action: sum(finished.map((result) => result.tokens.action)),
      observation: sum(finished.map((result) => result.tokens.observation)),
    },
    actionLength: mean(finished.map((result) => result.tokens.action)),
    turns: mean(finished.map((result) => result.turns.length)),
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
