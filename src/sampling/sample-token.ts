import { EverturnError } from "../errors/everturn-error.ts";
import type { Choice, NextTokenOutput } from "../models/cached-decoder.ts";
import { indexOfLargest } from "../models/index-of-largest.ts";
import { keepLikeliest, keepsAll, type LikeliestOptions } from "./keep-likeliest.ts";

/** How one token is drawn. `temperature` 0 takes the likeliest. */
export interface TokenSampling extends LikeliestOptions {
  temperature: number;
  /** Logits of tokens that the context holds are divided by this, or multiplied if negative (arXiv 1909.05858). */
  repetitionPenalty?: number;
}

/** What the model says of the next token. */
export interface NextToken {
  /** The likeliest token, and its probability. */
  choice(): Choice;
  /** Probabilities at the temperature, up to a factor, for drawing freely. */
  weights(): Float32Array;
  /** For drawing under restrictions. */
  logits(): Float32Array;
}

/** What the context and a grammar do to the choice. */
export interface Restrictions {
  /** Tokens that the context holds. */
  seen: Set<number>;
  /** A bit for each token, 32 to a number, lowest first: 1 where the grammar allows it. */
  allowed?: Int32Array;
}

/** A token, with log-probabilities in nats. */
export interface DrawnToken {
  token: number;
  /** Under the model's own distribution: temperature 1, the whole vocabulary. */
  logprob: number;
  /** The same at the sampling temperature: the whole vocabulary, whatever restricts the draw. As `logprob` at 0. */
  temperedLogprob: number;
  /** Under the distribution that it was drawn from; 0 if it was simply the likeliest. */
  samplingLogprob: number;
}

/** What must be fetched of the model to draw so. */
export function wantedOutputs(sampling: TokenSampling, restricted: boolean): NextTokenOutput[] {
  if (restricted) return ["choice", "logits"];
  return sampling.temperature === 0 ? ["choice"] : ["choice", "weights"];
}

/**
 * Draws a token by inverting the cumulative distribution at `uniform()` (in [0, 1)). The repetition penalty comes
 * first, then a grammar, temperature, top-k, top-p and min-p. Fails with LOGITS_NOT_FINITE when the policy's numbers
 * have broken down.
 */
export function sampleToken(
  next: NextToken,
  sampling: TokenSampling,
  uniform: () => number,
  restrictions?: Restrictions,
): DrawnToken {
  const { temperature } = sampling;
  if (restrictions) {
    const before = next.logits();
    const logits = restricted(before, sampling.repetitionPenalty ?? 1, restrictions);
    const best = indexOfLargest(logits);
    const drawn =
      temperature === 0
        ? { token: best, samplingLogprob: 0 }
        : draw(weigh(logits, logits[best]!, temperature), sampling, uniform());
    const { token: likeliest, probability } = next.choice();
    const behind = before[drawn.token]! - before[likeliest]!;
    const logprob = behind + Math.log(probability);
    if (temperature === 0 || temperature === 1)
      return checked({ ...drawn, logprob, temperedLogprob: logprob });
    // By logarithms: a token that a grammar forces may be so unlikely that its weight is 0.
    const total = sumOf(weigh(before, before[likeliest]!, temperature));
    return checked({ ...drawn, logprob, temperedLogprob: behind / temperature - Math.log(total) });
  }
  const { token: likeliest, probability } = next.choice();
  if (temperature === 0) {
    const logprob = Math.log(probability);
    return checked({ token: likeliest, logprob, temperedLogprob: logprob, samplingLogprob: 0 });
  }
  const weights = next.weights();
  const drawn = draw(weights, sampling, uniform());
  const centered = temperature * Math.log(weights[drawn.token]! / weights[likeliest]!);
  const logprob = centered + Math.log(probability);
  if (temperature === 1) return checked({ ...drawn, logprob, temperedLogprob: logprob });
  const temperedLogprob = keepsAll(sampling)
    ? drawn.samplingLogprob
    : Math.log(weights[drawn.token]! / sumOf(weights));
  return checked({ ...drawn, logprob, temperedLogprob });
}

function sumOf(weights: Float32Array): number {
  let total = 0;
  for (const weight of weights) total += weight;
  return total;
}

function draw(
  weights: Float32Array,
  sampling: TokenSampling,
  uniform: number,
): Pick<DrawnToken, "token" | "samplingLogprob"> {
  const tokens = keepsAll(sampling) ? undefined : keepLikeliest(weights, sampling);
  const count = tokens?.length ?? weights.length;
  let total = 0;
  for (let at = 0; at < count; at++) total += weights[tokens ? tokens[at]! : at]!;
  const target = uniform * total;
  let reached = 0;
  let token = 0;
  for (let at = 0; at < count; at++) {
    const candidate = tokens ? tokens[at]! : at;
    const weight = weights[candidate]!;
    if (weight === 0) continue;
    reached += weight;
    token = candidate;
    if (reached > target) break;
  }
  return { token, samplingLogprob: Math.log(weights[token]! / total) };
}

/** Logits after the repetition penalty, −∞ where the grammar forbids a token. */
function restricted(logits: Float32Array, penalty: number, { seen, allowed }: Restrictions): Float32Array {
  const changed = logits.slice();
  if (penalty !== 1) {
    for (const token of seen) {
      const logit = changed[token]!;
      changed[token] = logit > 0 ? logit / penalty : logit * penalty;
    }
  }
  if (allowed) {
    for (let token = 0; token < changed.length; token++) {
      if (((allowed[token >>> 5]! >>> (token & 31)) & 1) === 0) changed[token] = Number.NEGATIVE_INFINITY;
    }
  }
  return changed;
}

function weigh(logits: Float32Array, largest: number, temperature: number): Float32Array {
  return logits.map((logit) => Math.exp((logit - largest) / temperature));
}

function checked(drawn: DrawnToken): DrawnToken {
  const { logprob, temperedLogprob, samplingLogprob } = drawn;
  if (![logprob, temperedLogprob, samplingLogprob].every(Number.isFinite))
    throw new EverturnError("LOGITS_NOT_FINITE", { token: drawn.token });
  return drawn;
}
