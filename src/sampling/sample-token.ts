import { EverturnError } from "../errors/everturn-error.ts";

/** How one token is drawn. `temperature` 0 takes the likeliest; `topK` and `topP` keep only the likeliest. */
export type TokenSampling = { temperature: number; topK?: number; topP?: number };

/**
 * Draws a token from a row of logits by inverting the cumulative distribution at `uniform` (in [0, 1)).
 * Temperature comes first, then top-k, then top-p (the smallest set whose probability reaches it; ties by id).
 * `logprob` is the log-softmax (nats) of the untouched logits at the token, not the probability under which it
 * was drawn: training computes its ratios at temperature 1 over the whole vocabulary.
 * Fails with LOGITS_NOT_FINITE when the policy's numbers have broken down.
 */
export function sampleToken(
  logits: Float32Array,
  sampling: TokenSampling,
  uniform: number,
): { token: number; logprob: number } {
  const best = indexOfLargest(logits);
  const { temperature } = sampling;
  const weights = weigh(logits, logits[best]!, 1);
  const logTotal = Math.log(sum(weights));
  const tempered =
    temperature === 0 || temperature === 1 ? weights : weigh(logits, logits[best]!, temperature);
  const token = temperature === 0 ? best : draw(tempered, sampling, uniform);
  const logprob = logits[token]! - logits[best]! - logTotal;
  if (!Number.isFinite(logprob)) throw new EverturnError("LOGITS_NOT_FINITE", { token });
  return { token, logprob };
}

function draw(
  weights: Float64Array,
  { topK = weights.length, topP = 1 }: TokenSampling,
  uniform: number,
): number {
  if (topK < weights.length || topP < 1) keepLikeliest(weights, topK, topP);
  const target = uniform * sum(weights);
  let reached = 0;
  let token = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] === 0) continue;
    reached += weights[i]!;
    token = i;
    if (reached > target) break;
  }
  return token;
}

/** Probabilities at a temperature, up to a factor. */
function weigh(logits: Float32Array, largest: number, temperature: number): Float64Array {
  const weights = new Float64Array(logits.length);
  for (let i = 0; i < logits.length; i++) weights[i] = Math.exp((logits[i]! - largest) / temperature);
  return weights;
}

/** Zeroes the weights outside top-k and top-p. */
function keepLikeliest(weights: Float64Array, topK: number, topP: number): void {
  const order = Uint32Array.from(weights.keys()).sort((a, b) => weights[b]! - weights[a]! || a - b);
  const candidates = order.subarray(0, topK);
  let mass = 0;
  for (const token of candidates) mass += weights[token]!;
  let kept = 0;
  let count = 0;
  for (const token of candidates) {
    kept += weights[token]!;
    count++;
    if (kept >= topP * mass) break;
  }
  for (const token of order.subarray(count)) weights[token] = 0;
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function indexOfLargest(values: Float32Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[best]!) best = i;
  return best;
}
