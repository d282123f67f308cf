import { indexOfLargest } from "../models/decode/index-of-largest.ts";
import { sumOf } from "./sum-of.ts";

/** What the context and a grammar do to the choice of a token. */
export interface Restrictions {
  /** Tokens that the context holds. */
  seen: Set<number>;
  /** A bit for each token, 32 to a number, lowest first: 1 where the grammar allows it. */
  allowed?: Int32Array;
}

/** The restrictions with the penalty: logits of seen tokens are divided by it, or multiplied if negative. */
export interface Penalized extends Restrictions {
  penalty: number;
}

/** Logits after the penalty, −∞ where the grammar forbids a token. */
export function restrictedLogits(logits: Float32Array, { seen, allowed, penalty }: Penalized): Float32Array {
  const changed = logits.slice();
  for (const token of seen) changed[token] = penalized(changed[token]!, penalty);
  if (allowed) forbid(changed, allowed, Number.NEGATIVE_INFINITY);
  return changed;
}

/** Below this share of all weights, those that are left are too small to be told apart. */
const leastShare = 1e-20;

/**
 * What is drawn from under restrictions, up to a factor: of `weights`, which are probabilities of `logits` at the temperature up
 * to a factor. Exponentials of a whole vocabulary cost milliseconds here: they are made again only where none of these is left.
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

/** Gives tokens that are not allowed this value. */
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
