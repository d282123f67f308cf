import { clip, exp, mul, sub } from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";

/**
 * Estimators of KL(p ‖ q) in nats from samples of p, with x = log(q / p) (http://joschu.net/blog/kl-approx.html).
 * - `k1` = −x: unbiased, may be negative. As a term of the loss its gradient is zero on average.
 * - `k2` = x² / 2: biased. Its gradient is that of the KL divergence.
 * - `k3` = e^x − 1 − x: unbiased, never negative.
 */
export type KlEstimator = "k1" | "k2" | "k3";

/** Log-ratios are clamped to ± this value, so that no ratio overflows. */
export const largestLogRatio = 20;

/** Clamps log-ratios to ±20. */
export function bounded(logRatios: FloatValue): FloatValue {
  return clip(logRatios, -largestLogRatio, largestLogRatio);
}

/** Returns the estimate of each token in a graph, from x = log(q / p). */
export function klEstimates(logRatios: FloatValue, estimator: KlEstimator): FloatValue {
  if (estimator === "k1") return mul(logRatios, -1);
  if (estimator === "k2") return mul(mul(logRatios, logRatios), 0.5);
  return sub(sub(exp(logRatios), 1), logRatios);
}

/** Returns the estimate of one token, from x = log(q / p) clamped to ±20. */
export function klEstimate(logRatio: number, estimator: KlEstimator): number {
  const x = Math.max(-largestLogRatio, Math.min(largestLogRatio, logRatio));
  if (estimator === "k1") return -x;
  return estimator === "k2" ? (x * x) / 2 : Math.expm1(x) - x;
}
