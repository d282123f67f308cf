import { exp, less, minimum, where } from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";
import { bounded, largestLogRatio } from "./kl.ts";
import type { SampleReductions } from "./policy-loss.ts";

/**
 * How to weight trajectories that another policy sampled. A sampler never agrees with the trainer to the last digit,
 * and may be versions behind. The weight is π_trainer / π_sampler of a token or of a whole sequence (the product over
 * its action tokens). `truncate` caps it at the maximum (truncated importance sampling,
 * https://fengyao.notion.site/off-policy-rl). `mask` sets it to 0 outside [minimum, maximum].
 */
export type ImportanceCorrection =
  | "none"
  | "token-truncate"
  | "token-mask"
  | "sequence-truncate"
  | "sequence-mask";

/** The allowed range of weights. */
export interface ImportanceRange {
  minimum: number;
  maximum: number;
}

/** The part of a correction that the objective of an update computes itself. */
export interface ImportanceSettings {
  correction: Exclude<ImportanceCorrection, "none">;
  range: ImportanceRange;
}

/**
 * Returns the weights of a sequence's action tokens, from their log-probabilities under the trainer's weights and under
 * the distribution that they were drawn from.
 */
export function importanceWeights(
  trainer: Float32Array,
  sampler: Float32Array,
  correction: ImportanceCorrection,
  range: ImportanceRange,
): Float32Array {
  if (correction === "none") return new Float32Array(trainer.length).fill(1);
  const logRatios = trainer.map((value, at) => value - sampler[at]!);
  const { ofTokens, masks } = kindOf(correction);
  if (ofTokens) return logRatios.map((logRatio) => held(logRatio, masks, range));
  const sum = logRatios.reduce((total, logRatio) => total + logRatio, 0);
  return new Float32Array(trainer.length).fill(held(sum, masks, range));
}

/** Computes the weights in a graph, from the log-ratios of action tokens. */
export function importanceWeightsOf(
  logRatios: FloatValue,
  { correction, range: { minimum: least, maximum: most } }: ImportanceSettings,
  reductions: () => SampleReductions,
): FloatValue {
  const { ofTokens, masks } = kindOf(correction);
  const weights = exp(bounded(ofTokens ? logRatios : reductions().sum(logRatios)));
  if (!masks) return minimum(weights, most);
  const { graph } = weights;
  const [low, high] = [less(weights, graph.floats([least])), less(graph.floats([most]), weights)];
  return where(low, 0, where(high, 0, weights));
}

function kindOf(correction: ImportanceSettings["correction"]) {
  return {
    ofTokens: correction === "token-truncate" || correction === "token-mask",
    masks: correction === "token-mask" || correction === "sequence-mask",
  };
}

function held(logRatio: number, masks: boolean, { minimum: least, maximum: most }: ImportanceRange): number {
  const weight = Math.exp(Math.max(-largestLogRatio, Math.min(largestLogRatio, logRatio)));
  if (masks) return weight < least || weight > most ? 0 : weight;
  return Math.min(weight, most);
}
