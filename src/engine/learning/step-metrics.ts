import { defined } from "../../base/records/defined.ts";
import type { UpdateResult } from "./engine.ts";
import { type ModelScores, recordedLogProbabilities } from "./experience.ts";
import { klEstimate } from "./kl.ts";
import { joined } from "./objective.ts";
import type { Experienced } from "./token-rewards.ts";

/** The measurements of a policy-gradient step. All but the last five are means over its updates. */
export interface StepMetrics {
  policyLoss: number;
  /** Set only with a value head. */
  valueLoss?: number;
  /** KL divergence to the reference policy, nats per token (k3). Set only with a KL term. */
  kl?: number;
  /** KL divergence from the sampling policy, nats per token (k3). */
  approximateKl: number;
  /**
   * Nats per token. With `entropyCoefficient`, the entropy of the distribution; otherwise estimated as −log p of the
   * sampled tokens.
   */
  entropy: number;
  clipFraction: number;
  /** Before clipping. */
  gradientNorm: number;
  /** Gradient norm of a critic that is a separate model. Absent without one. */
  valueGradientNorm?: number;
  learningRate: number;
  /** Learning rate of the value head. Set only if it has its own rate or warm-up. */
  valueLearningRate?: number;
  /** Largest difference between recorded and recomputed log-probabilities. */
  logprobGap: number;
  /** Mean difference between them. */
  logprobGapMean: number;
  /** KL divergence from recorded to recomputed probabilities, nats per token (k3 estimator). */
  samplerKl: number;
  /** The number of trained action tokens. */
  tokens: number;
  /** Number of updates, including skipped ones. Set only with `klStop`. */
  updates?: number;
  /** Number of trajectories that trained nothing because a limit cut them. Set only with `maskTruncated`. */
  masked?: number;
  /** Divisor of the rewards. Set only with `rewardNormalization`. */
  rewardScale?: number;
  /** Updates skipped because of an overflow, and the loss scale of the last one. Set only with float16. */
  skippedUpdates?: number;
  lossScale?: number;
}

/** An update and its inputs. */
export interface Update {
  trajectories: readonly Experienced[];
  result: UpdateResult;
  /** The result of a critic that is a separate model. */
  critic?: UpdateResult;
}

type Measured = Pick<
  StepMetrics,
  "policyLoss" | "valueLoss" | "kl" | "approximateKl" | "entropy" | "clipFraction" | "gradientNorm"
>;

/** Averages over the updates made. `used` are the trajectories among the sampled ones that the updates used. */
export function metricsOf(
  sampled: readonly Experienced[],
  used: readonly Experienced[],
  scores: readonly ModelScores[],
  updates: readonly UpdateResult[],
): Measured {
  const term = (name: string) => mean(updates, ({ terms }) => terms[name]);
  const has = (name: string) => updates.some(({ terms }) => name in terms);
  const kl = has("kl") ? term("kl") : klBefore(joined(used.map(recordedLogProbabilities)), scores);
  const recorded = joined(sampled.map(recordedLogProbabilities));
  return defined({
    policyLoss: term("policyLoss"),
    valueLoss: has("valueLoss") ? term("valueLoss") : undefined,
    kl,
    approximateKl: term("approximateKl"),
    entropy: has("entropy") ? term("entropy") : -sum(recorded) / recorded.length,
    clipFraction: term("clipFraction"),
    gradientNorm: mean(updates, ({ gradientNorm }) => gradientNorm),
  });
}

/** Averages over the updates of a separate critic. */
export function valueMetrics(
  updates: readonly Update[],
): Pick<StepMetrics, "valueLoss" | "valueGradientNorm"> {
  const made = updates.flatMap(({ critic }) => (critic && !critic.skipped ? [critic] : []));
  if (made.length === 0) return {};
  return {
    valueLoss: mean(made, ({ loss }) => loss),
    valueGradientNorm: mean(made, ({ gradientNorm }) => gradientNorm),
  };
}

/** Returns the KL divergence of the sampled tokens to the reference, if the loss doesn't measure it. */
function klBefore(recorded: Float32Array, scores: readonly ModelScores[]): number | undefined {
  const references = scores.flatMap(({ referenceLogProbabilities }) => referenceLogProbabilities ?? []);
  if (references.length === 0) return undefined;
  const reference = joined(references);
  return sum(recorded.map((value, at) => klEstimate(reference[at]! - value, "k3"))) / recorded.length;
}

/**
 * Returns the difference between the sampler's and the trainer's log-probabilities: over all trajectories if they were
 * scored, otherwise over those of the first update made.
 */
export function gapOf(
  trajectories: readonly Experienced[],
  scores: readonly ModelScores[],
  first: Update | undefined,
): Pick<StepMetrics, "logprobGap" | "logprobGapMean" | "samplerKl"> {
  const scored = scores.flatMap(({ logProbabilities }) => logProbabilities ?? []);
  const complete = scored.length === trajectories.length;
  const compared = complete ? trajectories : (first?.trajectories ?? []);
  const recomputed = complete ? joined(scored) : (first?.result.logProbabilities ?? new Float32Array());
  const recorded = joined(compared.map(recordedLogProbabilities));
  const gaps = recorded.map((value, at) => Math.abs(value - recomputed[at]!));
  const count = Math.max(1, recorded.length);
  return {
    logprobGap: gaps.reduce((most, gap) => Math.max(most, gap), 0),
    logprobGapMean: sum(gaps) / count,
    samplerKl: sum(recorded.map((value, at) => klEstimate(recomputed[at]! - value, "k3"))) / count,
  };
}

function mean(updates: readonly UpdateResult[], of: (update: UpdateResult) => number | undefined): number {
  return updates.reduce((total, update) => total + (of(update) ?? 0), 0) / Math.max(1, updates.length);
}

function sum(numbers: Float32Array): number {
  return numbers.reduce((total, value) => total + value, 0);
}
