import { EverturnError } from "../errors/everturn-error.ts";
import { actionPositions, type TokenSequence } from "./batch.ts";
import { type GaeSettings, generalizedAdvantages, whiten } from "./gae.ts";

/** A finished trajectory as the trainer sees it; `logprobs` as recorded while sampling, one a token. */
export interface ScoredTrajectory extends TokenSequence {
  readonly logprobs: readonly number[];
  readonly reward: number;
}

/** What the models said of a trajectory's action tokens before the step, in order. */
export interface TrajectoryScores {
  values: Float32Array;
  logProbabilities: Float32Array;
  referenceLogProbabilities: Float32Array;
}

/** A trajectory with all that PPO's loss wants of its action tokens, in order. */
export interface Experience {
  sequence: TokenSequence;
  oldLogProbabilities: Float32Array;
  referenceLogProbabilities: Float32Array;
  oldValues: Float32Array;
  advantages: Float32Array;
  returns: Float32Array;
}

/** Advantages of all trajectories, whitened together over their action tokens. Throws TRAINING_BATCH_INVALID. */
export function gatherExperience(
  trajectories: readonly ScoredTrajectory[],
  scores: readonly TrajectoryScores[],
  settings: GaeSettings,
): Experience[] {
  const estimates = trajectories.map((trajectory, index) =>
    generalizedAdvantages(scores[index]!.values, trajectory.reward, settings),
  );
  const whitened = whiten(joined(estimates.map(({ advantages }) => advantages)));
  let start = 0;
  return trajectories.map((trajectory, index) => {
    const { values, referenceLogProbabilities } = scores[index]!;
    const advantages = whitened.subarray(start, start + values.length);
    start += values.length;
    return {
      sequence: trajectory,
      oldLogProbabilities: recordedLogProbabilities(trajectory),
      referenceLogProbabilities,
      oldValues: values,
      advantages,
      returns: estimates[index]!.returns,
    };
  });
}

/** The largest difference between recorded log-probabilities and those computed now. */
export function largestGap(
  trajectories: readonly ScoredTrajectory[],
  scores: readonly TrajectoryScores[],
): number {
  let gap = 0;
  trajectories.forEach((trajectory, index) => {
    recordedLogProbabilities(trajectory).forEach((recorded, at) => {
      gap = Math.max(gap, Math.abs(recorded - scores[index]!.logProbabilities[at]!));
    });
  });
  return gap;
}

/** Arrays one after the other. */
export function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((total, part) => total + part.length, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  return whole;
}

/** Throws TRAINING_BATCH_INVALID unless some token carries loss and all numbers are finite and one a token. */
export function checkTrajectories(trajectories: readonly ScoredTrajectory[]): void {
  const problems = trajectories.flatMap((trajectory, index) => {
    const problem = problemOf(trajectory);
    return problem ? [`trajectory ${index} ${problem}`] : [];
  });
  if (!trajectories.some(({ mask }) => mask.includes(1))) problems.push("none of its tokens carries loss");
  const [reason] = problems;
  if (reason) throw new EverturnError("TRAINING_BATCH_INVALID", { reason });
}

function problemOf({ tokens, logprobs, mask, reward }: ScoredTrajectory): string | undefined {
  if (logprobs.length !== tokens.length) {
    return `has ${tokens.length} tokens, but ${logprobs.length} log-probabilities`;
  }
  if (!Number.isFinite(reward)) return `has the reward ${reward}`;
  const strange = logprobs.findIndex(
    (value, at) => mask[at] === 1 && !(Number.isFinite(value) && value < 1e-3),
  );
  return strange < 0 ? undefined : `has the log-probability ${logprobs[strange]} at token ${strange}`;
}

function recordedLogProbabilities(trajectory: ScoredTrajectory): Float32Array {
  return Float32Array.from(actionPositions(trajectory), (at) => trajectory.logprobs[at]!);
}
