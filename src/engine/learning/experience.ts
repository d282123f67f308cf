import { EverturnError } from "../../base/errors/everturn-error.ts";
import { estimateAdvantages } from "./advantages.ts";
import type { AlgorithmSettings } from "./algorithm.ts";
import { actionPositions } from "./batch.ts";
import { importanceWeights } from "./importance-correction.ts";
import { klEstimate } from "./kl.ts";
import { type Experienced, overlongReward, tokenRewards, turnsOf } from "./token-rewards.ts";

/** The models' scores of a trajectory's action tokens before the step, in order. Only requested ones are present. */
export interface ModelScores {
  values?: Float32Array;
  logProbabilities?: Float32Array;
  referenceLogProbabilities?: Float32Array;
}

/** A trajectory with all inputs of an objective for its action tokens. */
export interface Experience {
  sequence: Experienced;
  actions: number;
  /** Each column has one number per action token, in order. */
  columns: Record<string, Float32Array>;
  /** The importance correction's weight of each action token. */
  importance: Float32Array;
}

/**
 * Computes an objective's inputs from the trajectories of a step: rewards with penalties, advantages and corrections.
 */
export function gatherExperience(
  trajectories: readonly Experienced[],
  scores: readonly ModelScores[],
  settings: AlgorithmSettings,
  klCoefficient: number,
): Experience[] {
  const known = trajectories.map((trajectory, index) => {
    const recorded = recordedLogProbabilities(trajectory);
    const drawn = drawnLogProbabilities(trajectory);
    const { logProbabilities = recorded, referenceLogProbabilities: reference, values } = scores[index]!;
    const corrected = settings.importanceCorrection !== "none";
    const old = corrected ? logProbabilities : recorded;
    const turns = turnsOf(trajectory);
    const rewards = tokenRewards(punished(trajectory, turns.length, settings), turns);
    if (settings.klIn === "reward" && reference) {
      old.forEach((value, at) => {
        rewards[at]! -= klCoefficient * klEstimate(reference[at]! - value, settings.klEstimator);
      });
    }
    const importance = importanceWeights(old, drawn, settings.importanceCorrection, {
      minimum: settings.importanceMinimum,
      maximum: settings.importanceMaximum,
    });
    const group = trajectory.group ?? `trajectory ${index}`;
    return {
      trajectory,
      old,
      drawn,
      reference,
      importance,
      rewards,
      turns,
      group,
      ...(values && { values }),
    };
  });
  const estimates = estimateAdvantages(known, settings);
  return known.map(({ trajectory, old, drawn, reference, importance, values, turns }, index) => {
    const { advantages, returns } = estimates[index]!;
    const columns = {
      oldLogProbabilities: old,
      drawnLogProbabilities: drawn,
      advantages,
      sampleShares: new Float32Array(turns.length).fill(1 / turns.length),
      ...(reference && { referenceLogProbabilities: reference }),
      ...(values && returns && { oldValues: values, returns }),
    };
    return { sequence: trajectory, actions: turns.length, columns, importance };
  });
}

function punished(
  trajectory: Experienced,
  actions: number,
  { overlongMaximum, overlongBuffer, overlongPenalty }: AlgorithmSettings,
): Experienced {
  if (overlongMaximum === undefined) return trajectory;
  const settings = { maximum: overlongMaximum, buffer: overlongBuffer, penalty: overlongPenalty };
  return { ...trajectory, reward: trajectory.reward + overlongReward(actions, settings) };
}

/** Returns the recorded log-probabilities of a trajectory's action tokens under the sampling policy, in order. */
export function recordedLogProbabilities(trajectory: Experienced): Float32Array {
  return Float32Array.from(actionPositions(trajectory), (at) => trajectory.logprobs[at]!);
}

/** Returns their log-probabilities under the distribution that they were drawn from. */
function drawnLogProbabilities(trajectory: Experienced): Float32Array {
  const { logprobs, samplingLogprobs = logprobs } = trajectory;
  return Float32Array.from(actionPositions(trajectory), (at) => samplingLogprobs[at]!);
}

/**
 * Throws TRAINING_BATCH_INVALID unless each trajectory has a token with loss, and its numbers are finite and match its
 * tokens or turns.
 */
export function checkTrajectories(trajectories: readonly Experienced[]): void {
  const problems = trajectories.flatMap((trajectory, index) => {
    const problem = problemOf(trajectory);
    return problem ? [`trajectory ${index} ${problem}`] : [];
  });
  if (!trajectories.some(({ mask }) => mask.includes(1))) problems.push("none of its tokens carries loss");
  const [reason] = problems;
  if (reason) throw new EverturnError("TRAINING_BATCH_INVALID", { reason });
}

function problemOf(trajectory: Experienced): string | undefined {
  const { tokens, logprobs, samplingLogprobs = logprobs, mask, reward, turnRewards, rows } = trajectory;
  const total = rows?.reduce((sum, length) => sum + length, 0) ?? tokens.length;
  if (total !== tokens.length) return `has ${tokens.length} tokens, but rows of ${total}`;
  for (const { length } of [logprobs, samplingLogprobs]) {
    if (length !== tokens.length) return `has ${tokens.length} tokens, but ${length} log-probabilities`;
  }
  if (!Number.isFinite(reward)) return `has the reward ${reward}`;
  if (turnRewards) {
    const turns = (turnsOf(trajectory).at(-1) ?? -1) + 1;
    if (turnRewards.length !== turns) return `has ${turns} turns, but ${turnRewards.length} rewards of turns`;
    const strange = turnRewards.find((value) => !Number.isFinite(value));
    if (strange !== undefined) return `has a turn with the reward ${strange}`;
  }
  for (const column of [logprobs, samplingLogprobs]) {
    const strange = column.findIndex(
      (value, at) => mask[at] === 1 && !(Number.isFinite(value) && value < 1e-3),
    );
    if (strange >= 0) return `has the log-probability ${column[strange]} at token ${strange}`;
  }
  return undefined;
}
