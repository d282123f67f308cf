import { defined } from "../../base/records/defined.ts";
import type { UpdateResult } from "./engine.ts";
import { type ModelScores, recordedLogProbabilities } from "./experience.ts";
import { klEstimate } from "./kl.ts";
import { joined } from "./objective.ts";
import type { Experienced } from "./token-rewards.ts";

/** What a policy-gradient step measured: means over the updates that it made, but for the last five. */
export interface StepMetrics {
  policyLoss: number;
  /** With a value head alone. */
  valueLoss?: number;
  /** To the reference policy (nats a token, k3); with a KL term alone. */
  kl?: number;
  /** From the policy that sampled (nats a token, k3). */
  approximateKl: number;
  /** Nats a token: of the distribution if the loss has an entropy bonus, else estimated by −log p of what was sampled. */
  entropy: number;
  clipFraction: number;
  /** Before clipping. */
  gradientNorm: number;
  /** The same of a critic that is a model of its own; absent without one. */
  valueGradientNorm?: number;
  learningRate: number;
  /** Of the value head; with one of its own, or a warm-up of its own, alone. */
  valueLearningRate?: number;
  /** Largest difference between recorded and recomputed log-probabilities. */
  logprobGap: number;
  /** Their mean difference. */
  logprobGapMean: number;
  /** From the policy as it was recorded to the recomputed one, nats a token (k3 estimator). */
  samplerKl: number;
  /** Action tokens trained on. */
  tokens: number;
  /** With `klStop` alone: the updates that were made, skipped ones too. */
  updates?: number;
  /** With `maskTruncated` alone: trajectories that trained nothing as a limit cut them. */
  masked?: number;
  /** With `rewardNormalization` alone: what rewards were divided by. */
  rewardScale?: number;
  /** In float16 alone: updates that were skipped as something in them overflowed, and the loss scale of the last one. */
  skippedUpdates?: number;
  lossScale?: number;
}

/** An update, and what it was made of. */
export interface Update {
  trajectories: readonly Experienced[];
  result: UpdateResult;
  /** Of a critic that is a model of its own. */
  critic?: UpdateResult;
}

type Measured = Pick<
  StepMetrics,
  "policyLoss" | "valueLoss" | "kl" | "approximateKl" | "entropy" | "clipFraction" | "gradientNorm"
>;

/** Means over the updates that were made on the trajectories that were used of those that were sampled. */
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

/** Means over the updates that a critic of its own made. */
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

/** The KL divergence of what was sampled to the reference, where the loss doesn't measure it. */
function klBefore(recorded: Float32Array, scores: readonly ModelScores[]): number | undefined {
  const references = scores.flatMap(({ referenceLogProbabilities }) => referenceLogProbabilities ?? []);
  if (references.length === 0) return undefined;
  const reference = joined(references);
  return sum(recorded.map((value, at) => klEstimate(reference[at]! - value, "k3"))) / recorded.length;
}

/**
 * How far what the sampler said of its tokens is from what the trainer says: over all trajectories if they were scored, else
 * over those of the first update that was made.
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
  return updates.reduce((sum, update) => sum + (of(update) ?? 0), 0) / Math.max(1, updates.length);
}

function sum(numbers: Float32Array): number {
  return numbers.reduce((total, value) => total + value, 0);
}
