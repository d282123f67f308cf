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
 * What is compared with the policy that sampled:
 * - `token`: each token's probability (PPO, arXiv 1707.06347);
 * - `sequence`: the geometric mean over a sequence's action tokens (GSPO, arXiv 2507.18071);
 * - `trajectory`: the probability of all its action tokens together, one action (RLOO, arXiv 2402.14740).
 */
export type RatioLevel = "token" | "sequence" | "trajectory";

/** How far a probability ratio counts. */
export interface ClipSettings {
  /** It counts from 1 − clipLow … */
  clipLow: number;
  /** … to 1 + clipHigh; larger than clipLow in DAPO's clip-higher (arXiv 2503.14476). */
  clipHigh: number;
  /** A token with a negative advantage counts no more than this many times it (dual clip, arXiv 1912.09729); > 1, default off. */
  dualClip?: number;
}

/** Of each action token, [actions]. */
export interface PolicyLoss {
  losses: FloatValue;
  /** 1 where clipping took hold, else 0. */
  clipped: FloatValue;
}

/** −min(r A, clip(r, 1 − clipLow, 1 + clipHigh) A) for ratios r and advantages A; with a dual clip c not above −c A for A < 0. */
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

/** Sums and means over the tokens of each sample, given again to each of its tokens. */
export interface SampleReductions {
  sum(tokens: FloatValue): FloatValue;
  mean(tokens: FloatValue): FloatValue;
}

/** Reductions by the objective inputs `membership` [samples, actions] and `sampleShares` (1 / action tokens of its sample). */
export function sampleReductions(membership: FloatValue, sampleShares: FloatValue): SampleReductions {
  const [, actions] = membership.shape;
  const sum = (tokens: FloatValue): FloatValue => {
    const sums = gemm(membership, reshape(tokens, [actions ?? 1, 1]));
    return reshape(gemm(membership, sums, { transposeA: true }), tokens.shape);
  };
  return { sum, mean: (tokens) => sum(mul(tokens, sampleShares)) };
}

/** Each token's ratio at `level`, from the logarithms of the tokens' own. Log-ratios are held within ±20. */
export function probabilityRatios(
  logRatios: FloatValue,
  level: RatioLevel,
  reductions: () => SampleReductions,
): FloatValue {
  if (level === "token") return exp(bounded(logRatios));
  const { sum, mean } = reductions();
  return exp(bounded(level === "sequence" ? mean(logRatios) : sum(logRatios)));
}

/** Of each token: half the squared error of a value that counts no further than `range` from the old one (PPO). */
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
