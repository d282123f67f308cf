import { indexOfLargest } from "../models/decode/index-of-largest.ts";
import { sumOf } from "./sum-of.ts";

/** Restrictions on the choice of a token by the context and a grammar. */
export interface Restrictions {
  /** Tokens in the context. */
  seen: Set<number>;
  /** One bit per token, 32 per number, lowest first: 1 if the grammar allows the token. */
  allowed?: Int32Array;
}

/** Restrictions with the repetition penalty. Logits of seen tokens are divided by it, or multiplied if negative. */
export interface Penalized extends Restrictions {
  penalty: number;
}

/** Returns the logits after the penalty, −∞ for tokens that the grammar forbids. */
export function restrictedLogits(logits: Float32Array, { seen, allowed, penalty }: Penalized): Float32Array {
  const changed = logits.slice();
  for (const token of seen) changed[token] = penalized(changed[token]!, penalty);
  if (allowed) forbid(changed, allowed, Number.NEGATIVE_INFINITY);
  return changed;
}

/** Below this share of all weights, the remaining weights are too small to distinguish. */
const leastShare = 1e-20;

/**
 * Returns the weights to draw from under restrictions, up to a factor. `weights` are probabilities from `logits` at the
 * temperature, up to a factor. Exponentials of a whole vocabulary take milliseconds, so they are recomputed only if too
 * little weight remains.
 */
export function restrictedWeights(
  logits: Float32Array,
  weights: Float32Array,
  temperature: number,
  restrictions: Penalized,
): Float32Array {
  const { seen, allowed, penalty } = restrictions;
  const kept = weights.slice();
  for (const token of seen) {
    kept[token]! *= Math.exp((penalized(logits[token]!, penalty) - logits[token]!) / temperature);
  }
  if (allowed) forbid(kept, allowed, 0);
  const share = sumOf(kept) / sumOf(weights);
  if (share > leastShare && Number.isFinite(share)) return kept;
  const left = restrictedLogits(logits, restrictions);
  const largest = left[indexOfLargest(left)]!;
  return left.map((logit) => Math.exp((logit - largest) / temperature));
}

function penalized(logit: number, penalty: number): number {
  return logit > 0 ? logit / penalty : logit * penalty;
}

/** Sets the values of tokens that are not allowed. */
function forbid(values: Float32Array, allowed: Int32Array, value: number): void {
  for (let from = 0; from < values.length; from += 32) {
    const bits = allowed[from >>> 5]!;
    if (bits === 0) values.fill(value, from, from + 32);
    else if (bits !== -1) {
      for (let bit = 0; bit < 32 && from + bit < values.length; bit++) {
        if (((bits >>> bit) & 1) === 0) values[from + bit] = value;
      }
    }
  }
}
