/** Which tokens may be drawn: only the likeliest. Each is off by default. */
export interface LikeliestOptions {
  /** So many. */
  topK?: number;
  /** The smallest set whose probability, among what top-k left, reaches this (arXiv 1904.09751). */
  topP?: number;
  /** Those at least this times as likely as the likeliest (arXiv 2407.01082). */
  minP?: number;
}

/** Whether the options leave any token out. */
export function keepsAll({ topK, topP = 1, minP = 0 }: LikeliestOptions): boolean {
  return topK === undefined && topP >= 1 && minP <= 0;
}

/**
 * The tokens that top-k, then top-p, then min-p leave, the likeliest first, ties by id; weights are probabilities up
 * to a factor.
 */
export function keepLikeliest(
  weights: Float32Array,
  { topK = weights.length, topP = 1, minP = 0 }: LikeliestOptions,
): number[] {
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  const total = sumOf(weights, weights.keys());
  // Sorting a whole vocabulary is slow: nearly always the likeliest few are all that is needed.
  for (const fraction of [1e-3, 1e-6, 0]) {
    const candidates = sortedAbove(weights, fraction * largest);
    const cut = candidates.slice(0, topK);
    const limited = topK <= candidates.length;
    const reached = topP < 1 ? sumOf(weights, cut) >= topP * total : minP >= fraction;
    if (!limited && fraction > 0 && (topK < weights.length || !reached)) continue;
    const likely = cut.filter((token) => weights[token]! >= minP * largest);
    const mass = topP < 1 ? topP * (limited ? sumOf(weights, cut) : total) : Number.POSITIVE_INFINITY;
    return cutAtMass(weights, cut, mass, likely.length);
  }
  return [];
}

/** The first of `tokens` whose weights reach `mass`, at most `most`, at least one. */
function cutAtMass(weights: Float32Array, tokens: number[], mass: number, most: number): number[] {
  let reached = 0;
  let count = 0;
  for (const token of tokens) {
    reached += weights[token]!;
    count++;
    if (reached >= mass) break;
  }
  return tokens.slice(0, Math.max(1, Math.min(count, most)));
}

function sortedAbove(weights: Float32Array, threshold: number): number[] {
  const tokens: number[] = [];
  for (let token = 0; token < weights.length; token++) {
    if (weights[token]! > 0 && weights[token]! >= threshold) tokens.push(token);
  }
  return tokens.sort((a, b) => weights[b]! - weights[a]! || a - b);
}

function sumOf(weights: Float32Array, tokens: Iterable<number>): number {
  let total = 0;
  for (const token of tokens) total += weights[token]!;
  return total;
}
