import {
  add,
  clip,
  exp,
  less,
  maximum,
  minimum,
  mul,
  negate,
  positive,
  sub,
  toFloat,
  where,
} from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";
import { gemm } from "../onnx/linear-algebra.ts";
import { reshape } from "../onnx/shaping.ts";
import { bounded } from "./kl.ts";

/**
 * The probabilities compared with the sampling policy's.
 * - `token`: each token's probability (PPO, arXiv 1707.06347).
 * - `sequence`: the geometric mean over a sequence's action tokens (GSPO, arXiv 2507.18071).
 * - `trajectory`: the probability of all its action tokens together, as one action (RLOO, arXiv 2402.14740).
 */
export type RatioLevel = "token" | "sequence" | "trajectory";

/** How probability ratios are clipped. */
export interface ClipSettings {
  /** The lower limit is 1 − clipLow. */
  clipLow: number;
  /** The upper limit is 1 + clipHigh. It is larger than clipLow in DAPO's clip-higher (arXiv 2503.14476). */
  clipHigh: number;
  /**
   * The most that a token with a negative advantage counts, as a multiple of the advantage (dual clip, arXiv
   * 1912.09729). Must be above 1. Default: off.
   */
  dualClip?: number;
}

/** For each action token, [actions]. */
export interface PolicyLoss {
  losses: FloatValue;
  /** 1 if the ratio was clipped, else 0. */
  clipped: FloatValue;
}

/**
 * Returns −min(r A, clip(r, 1 − clipLow, 1 + clipHigh) A) for ratios r and advantages A. With a dual clip c, it is at
 * most −c A for A < 0.
 */
export function clippedLosses(
  ratios: FloatValue,
  advantages: FloatValue,
  settings: ClipSettings,
): PolicyLoss {
  const { clipLow, clipHigh, dualClip } = settings;
  const free = mul(ratios, advantages);
  const held = mul(clip(ratios, 1 - clipLow, 1 + clipHigh), advantages);
  const lower = minimum(free, held);
  const gains =
    dualClip === undefined
      ? lower
      : where(positive(advantages), lower, maximum(lower, mul(advantages, dualClip)));
  return { losses: negate(gains), clipped: toFloat(less(held, free)) };
}

/** Sums and means over the tokens of each sample, repeated for each of its tokens. */
export interface SampleReductions {
  sum(tokens: FloatValue): FloatValue;
  mean(tokens: FloatValue): FloatValue;
}

/**
 * Returns reductions by the objective inputs `membership` [samples, actions] and `sampleShares` (1 / number of action
 * tokens in its sample).
 */
export function sampleReductions(membership: FloatValue, sampleShares: FloatValue): SampleReductions {
  const [, actions] = membership.shape;
  const sum = (tokens: FloatValue): FloatValue => {
    const sums = gemm(membership, reshape(tokens, [actions ?? 1, 1]));
    return reshape(gemm(membership, sums, { transposeA: true }), tokens.shape);
  };
  return { sum, mean: (tokens) => sum(mul(tokens, sampleShares)) };
}

/** Returns each token's ratio at `level`, from the tokens' own log-ratios. Log-ratios are clamped to ±20. */
export function probabilityRatios(
  logRatios: FloatValue,
  level: RatioLevel,
  reductions: () => SampleReductions,
): FloatValue {
  if (level === "token") return exp(bounded(logRatios));
  const { sum, mean } = reductions();
  return exp(bounded(level === "sequence" ? mean(logRatios) : sum(logRatios)));
}

/**
 * Returns, for each token, half the squared error of a value. The value is clipped to `range` around the old one (PPO).
 */
export function clippedValueLosses(
  values: FloatValue,
  oldValues: FloatValue,
  returns: FloatValue,
  range: number,
): FloatValue {
  const square = (x: FloatValue) => mul(x, x);
  const near = add(oldValues, clip(sub(values, oldValues), -range, range));
  return mul(maximum(square(sub(values, returns)), square(sub(near, returns))), 0.5);
}
