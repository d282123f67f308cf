/**
 * How the losses of action tokens become one number.
 * - `token-mean`: the mean over all action tokens (DAPO, arXiv 2503.14476).
 * - `sequence-mean`: each sequence's mean, then the mean over sequences (GRPO, arXiv 2402.03300).
 * - `sequence-sum`: each sequence's sum, then the mean over sequences (RLOO, arXiv 2402.14740).
 * - `constant`: each sequence's sum over a constant, then the mean over sequences (Dr. GRPO, arXiv 2503.20783).
 */
export type Aggregation = "token-mean" | "sequence-mean" | "sequence-sum" | "constant";

/**
 * Returns the weight of each action token in a minibatch. `counts` are the numbers of action tokens in its sequences.
 * The weighted sum of the tokens' losses is the aggregated loss. `constant` is the divisor of the aggregation
 * `constant`.
 */
export function aggregationWeights(
  counts: readonly number[],
  aggregation: Aggregation,
  constant = 1,
): Float32Array[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const weight = (count: number): number => {
    if (aggregation === "token-mean") return 1 / total;
    if (aggregation === "sequence-mean") return 1 / (counts.length * count);
    return 1 / (counts.length * (aggregation === "constant" ? constant : 1));
  };
  return counts.map((count) => new Float32Array(count).fill(weight(count)));
}
