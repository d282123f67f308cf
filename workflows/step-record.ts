import { defined } from "../src/base/records/defined.ts";
import { mean } from "../src/base/statistics/mean.ts";
import type { StepRecord } from "../src/contracts/generated/step-record.ts";
import type { ExampleMetrics, TrainStepResult } from "../src/contracts/ledger.ts";
import type { EndedGroup } from "../src/contracts/rollout.ts";
import type { StepInput } from "../src/contracts/run.ts";
import { batchOf, reasonToReplace } from "./ended-groups.ts";
import { failuresByReason } from "./failure-share.ts";
import { groupNumbers } from "./group-numbers.ts";

/** The number of reasons that a record counts separately. Others are rare. */
const reasonsKept = 8;

/**
 * Returns the step's line of `metrics.jsonl`. `clock` has the times in ms when rollout, training and
 * publishing began, and when all was done. Means are over all finished trajectories, including those of
 * groups that train nothing. Trajectories that were left out are only counted. Staleness is that of the
 * batch.
 */
export function stepRecord(
  input: Pick<StepInput, "step" | "policyVersion" | "settings" | "trainedBefore">,
  groups: EndedGroup[],
  trained: TrainStepResult,
  clock: number[],
): StepRecord {
  const results = groups.flatMap((group) => group.results);
  const finished = results.filter((result) => result.outcome !== "left-out");
  const leftOut = results.length - finished.length;
  const [start = 0, rolledOut = 0, trainedAt = 0, published = 0] = clock;
  const batch = batchOf(groups);
  const staleness = batch.map(({ result }) => input.policyVersion - result.policyVersion);
  const replaced = groups.map((group) => reasonToReplace(group, input.settings));
  const lost = replaced.filter((reason) => reason === "lost").length;
  return defined({
    step: input.step,
    policyVersion: trained.policyVersion,
    staleness: Math.max(0, ...staleness),
    stalenessMean: mean(staleness),
    trajectories: batch.length,
    trajectoriesSoFar: input.trainedBefore + batch.length,
    leftOut,
    leftOutShare: results.length === 0 ? 0 : leftOut / results.length,
    leftOutReasons:
      leftOut === 0 ? undefined : Object.fromEntries(failuresByReason(results).slice(0, reasonsKept)),
    groupsLost: lost === 0 ? undefined : lost,
    groupsLeftOut:
      input.settings.dynamicSampling === undefined
        ? undefined
        : replaced.filter((reason) => reason !== undefined).length,
    rewardMean: mean(finished.map((result) => result.reward)),
    successRate: mean(finished.map((result) => Number(result.success))),
    ...groupNumbers(groups),
    ...trained.metrics,
    tokens: {
      prompt: sum(finished.map((result) => result.tokens.prompt)),
      action: sum(finished.map((result) => result.tokens.action)),
      observation: sum(finished.map((result) => result.tokens.observation)),
    },
    actionLength: mean(finished.map((result) => result.tokens.action)),
    turns: mean(finished.map((result) => result.turns)),
    seconds: {
      rollout: (rolledOut - start) / 1000,
      train: (trainedAt - rolledOut) / 1000,
      publish: (published - trainedAt) / 1000,
      total: (published - start) / 1000,
    },
  });
}

/**
 * Returns the line of a step on examples. `clock` has the times in ms when training and publishing began, and
 * when all was done.
 */
export function exampleStepRecord(
  step: number,
  { policyVersion, metrics }: TrainStepResult<ExampleMetrics>,
  [start = 0, trainedAt = 0, published = 0]: number[],
): StepRecord {
  return {
    step,
    policyVersion,
    staleness: 0,
    trajectories: 0,
    trajectoriesSoFar: 0,
    leftOut: 0,
    ...metrics,
    seconds: {
      rollout: 0,
      train: (trainedAt - start) / 1000,
      publish: (published - trainedAt) / 1000,
      total: (published - start) / 1000,
    },
  };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
