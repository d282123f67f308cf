import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { RouterTies } from "../../contracts/router-ties.ts";
import type { Choice, Drawn, NextTokenOutput } from "../models/decode/cached-decoder.ts";
import { indexOfLargest } from "../models/decode/index-of-largest.ts";
import { drawWeight } from "./draw-weight.ts";
import { keepLikeliest, keepsAll, type LikeliestOptions } from "./keep-likeliest.ts";
import { type Restrictions, restrictedLogits, restrictedWeights } from "./restrictions.ts";
import { sumOf } from "./sum-of.ts";

/** How to draw a token. `temperature` 0 takes the likeliest. */
export interface TokenSampling extends LikeliestOptions {
  temperature: number;
  /** Divides logits of tokens in the context, or multiplies negative ones (arXiv 1909.05858). */
  repetitionPenalty?: number;
}

/** The model's output for the next token. */
export interface NextToken {
  /** Returns the likeliest token and its probability. */
  choice(): Choice;
  /** Returns probabilities at the temperature, up to a factor, for an unrestricted draw. */
  weights(): Float32Array;
  /** Returns logits for a draw under restrictions. */
  logits(): Float32Array;
  /** Draws by the weights without restrictions, if that costs less than reading them. */
  draw?: (uniform: number) => Drawn;
  /** Routing ties of the tokens that were read, by their place among them. */
  ties?: RouterTies;
}

/** A token, with log-probabilities in nats. */
export interface DrawnToken {
  token: number;
  /** Under the model's own distribution: temperature 1, the whole vocabulary. */
  logprob: number;
  /**
   * At the sampling temperature over the whole vocabulary, without restrictions. Equal to `logprob` at temperature 0.
   */
  temperedLogprob: number;
  /** Under the distribution that it was drawn from; 0 if it was simply the likeliest. */
  samplingLogprob: number;
}

/** Returns the outputs of the model that such a draw needs. */
export function wantedOutputs(sampling: TokenSampling, restricted: boolean): NextTokenOutput[] {
  if (restricted) return sampling.temperature === 0 ? ["choice", "logits"] : ["choice", "logits", "weights"];
  if (sampling.temperature === 0) return ["choice"];
  if (!keepsAll(sampling)) return ["choice", "weights"];
  return sampling.temperature === 1 ? ["draw"] : ["choice", "draw"];
}

/**
 * Draws a token by inverting the cumulative distribution at `uniform()`, a number in [0, 1). The repetition penalty
 * comes first, then a grammar, temperature, top-k, top-p and min-p. Throws LOGITS_NOT_FINITE if the model's output is
 * not finite.
 */
export function sampleToken(
  next: NextToken,
  sampling: TokenSampling,
  uniform: () => number,
  restrictions?: Restrictions,
): DrawnToken {
  const { temperature } = sampling;
  if (restrictions) return checked(drawRestricted(next, sampling, uniform, restrictions));
  if (keepsAll(sampling) && temperature !== 0) return checked(drawFreely(next, temperature, uniform()));
  const { token: likeliest, probability } = next.choice();
  if (temperature === 0) {
    const logprob = Math.log(probability);
    return checked({ token: likeliest, logprob, temperedLogprob: logprob, samplingLogprob: 0 });
  }
  const weights = next.weights();
  const drawn = draw(weights, sampling, uniform());
  const weight = weights[drawn.token]!;
  const logprob = temperature * Math.log(weight / weights[likeliest]!) + Math.log(probability);
  const temperedLogprob = temperature === 1 ? logprob : Math.log(weight / sumOf(weights));
  return checked({ ...drawn, logprob, temperedLogprob });
}

/** Draws from all tokens. At temperature 1 the weights suffice, without the likeliest token. */
function drawFreely(next: NextToken, temperature: number, uniform: number): DrawnToken {
  const { token, weight, total, largest } = next.draw?.(uniform) ?? drawnOf(next.weights(), uniform);
  const samplingLogprob = Math.log(weight / total);
  if (temperature === 1)
    return { token, logprob: samplingLogprob, temperedLogprob: samplingLogprob, samplingLogprob };
  const choice = next.choice();
  const behind = Math.log(weight / (largest ?? next.weights()[choice.token]!));
  const logprob = temperature * behind + Math.log(choice.probability);
  return { token, logprob, temperedLogprob: samplingLogprob, samplingLogprob };
}

function drawnOf(weights: Float32Array, uniform: number): Omit<Drawn, "largest"> & Partial<Drawn> {
  const { index, total } = drawWeight(weights, uniform);
  return { token: index, weight: weights[index]!, total };
}

function drawRestricted(
  next: NextToken,
  sampling: TokenSampling,
  uniform: () => number,
  restrictions: Restrictions,
): DrawnToken {
  const { temperature, repetitionPenalty: penalty = 1 } = sampling;
  const { token: likeliest, probability } = next.choice();
  const logits = next.logits();
  const behind = (token: number) => logits[token]! - logits[likeliest]!;
  const all = { ...restrictions, penalty };
  if (temperature === 0) {
    const token = indexOfLargest(restrictedLogits(logits, all));
    const logprob = behind(token) + Math.log(probability);
    return { token, logprob, temperedLogprob: logprob, samplingLogprob: 0 };
  }
  const weights = next.weights();
  const drawn = draw(restrictedWeights(logits, weights, temperature, all), sampling, uniform());
  const logprob = behind(drawn.token) + Math.log(probability);
  if (temperature === 1) return { ...drawn, logprob, temperedLogprob: logprob };
  // In logarithms, because a token that a grammar forces may be so unlikely that its weight is 0.
  const temperedLogprob = behind(drawn.token) / temperature + Math.log(weights[likeliest]! / sumOf(weights));
  return { ...drawn, logprob, temperedLogprob };
}

function draw(
  weights: Float32Array,
  sampling: TokenSampling,
  uniform: number,
): Pick<DrawnToken, "token" | "samplingLogprob"> {
  const tokens = keepsAll(sampling) ? undefined : keepLikeliest(weights, sampling);
  const kept = tokens ? Float32Array.from(tokens, (token) => weights[token]!) : weights;
  const { index, total } = drawWeight(kept, uniform);
  return { token: tokens ? tokens[index]! : index, samplingLogprob: Math.log(kept[index]! / total) };
}

function checked(drawn: DrawnToken): DrawnToken {
  const { logprob, temperedLogprob, samplingLogprob } = drawn;
  if (![logprob, temperedLogprob, samplingLogprob].every(Number.isFinite))
    throw new EverturnError("LOGITS_NOT_FINITE", { token: drawn.token });
  return drawn;
}
