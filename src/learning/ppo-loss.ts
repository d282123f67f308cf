import { add, clip, exp, less, maximum, minimum, mul, negate, sub, toFloat } from "../onnx/elementwise.ts";
import type { FloatValue } from "../onnx/graph.ts";
import { reduceMean } from "../onnx/reductions.ts";

/** Weights and bounds of the terms of PPO's loss. */
export interface PpoLossSettings {
  /** The probability ratio counts from 1 − clipLow … */
  clipLow: number;
  /** … to 1 + clipHigh. */
  clipHigh: number;
  /** A new value counts no further than this from the old one. */
  valueClip: number;
  valueCoefficient: number;
  klCoefficient: number;
  entropyCoefficient: number;
}

/** What the policy says now of each action token, all [rows]. */
export interface PolicyOutputs {
  logProbabilities: FloatValue;
  entropies: FloatValue;
  values: FloatValue;
}

/** What was known of each action token before the update, all [rows]. */
export interface PpoTargets {
  /** As recorded while sampling. */
  oldLogProbabilities: FloatValue;
  referenceLogProbabilities: FloatValue;
  oldValues: FloatValue;
  advantages: FloatValue;
  returns: FloatValue;
}

/** The loss and its terms: scalars, each a mean over the action tokens. */
export interface PpoLoss {
  loss: FloatValue;
  policyLoss: FloatValue;
  valueLoss: FloatValue;
  /** To the reference policy (k3 estimator). */
  kl: FloatValue;
  /** From the policy that sampled (k3 estimator). */
  approximateKl: FloatValue;
  entropy: FloatValue;
  /** The share of tokens on which clipping took hold. */
  clipFraction: FloatValue;
}

const largestLogRatio = 20;

/**
 * PPO's loss (arXiv 1707.06347) over action tokens: clipped ratio, half the squared error of clipped values, KL to
 * the reference, entropy bonus. Log-ratios are held within ±20.
 */
export function ppoLoss(now: PolicyOutputs, then: PpoTargets, settings: PpoLossSettings): PpoLoss {
  const logRatios = bounded(sub(now.logProbabilities, then.oldLogProbabilities));
  const ratios = exp(logRatios);
  const free = mul(ratios, then.advantages);
  const held = mul(clip(ratios, 1 - settings.clipLow, 1 + settings.clipHigh), then.advantages);
  const policyLoss = negate(reduceMean(minimum(free, held)));
  const valueLoss = clippedValueLoss(now.values, then, settings.valueClip);
  const kl = reduceMean(k3(bounded(sub(then.referenceLogProbabilities, now.logProbabilities))));
  const entropy = reduceMean(now.entropies);
  const regularized = sub(
    add(mul(valueLoss, settings.valueCoefficient), mul(kl, settings.klCoefficient)),
    mul(entropy, settings.entropyCoefficient),
  );
  return {
    loss: add(policyLoss, regularized),
    policyLoss,
    valueLoss,
    kl,
    approximateKl: reduceMean(k3(logRatios)),
    entropy,
    clipFraction: reduceMean(toFloat(less(held, free))),
  };
}

function clippedValueLoss(values: FloatValue, { oldValues, returns }: PpoTargets, range: number): FloatValue {
  const square = (x: FloatValue) => mul(x, x);
  const near = add(oldValues, clip(sub(values, oldValues), -range, range));
  return mul(reduceMean(maximum(square(sub(values, returns)), square(sub(near, returns)))), 0.5);
}

/** e^x − 1 − x for x = log(q / p) of samples of p: an unbiased, never negative estimate of KL(p ‖ q). */
function k3(logRatios: FloatValue): FloatValue {
  return sub(sub(exp(logRatios), 1), logRatios);
}

function bounded(logRatios: FloatValue): FloatValue {
  return clip(logRatios, -largestLogRatio, largestLogRatio);
}
