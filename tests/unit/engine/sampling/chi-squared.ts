/**
 * How far counts lie from what probabilities make one expect: Pearson's statistic, and the value that it exceeds once
 * in a thousand times (Wilson and Hilferty's approximation). Bins of fewer than five expected are put together.
 */
export function chiSquared(counts: ArrayLike<number>, probabilities: ArrayLike<number>) {
  const draws = Array.from(counts).reduce((total, count) => total + count, 0);
  let statistic = 0;
  let bins = 0;
  let rest = { count: 0, expected: 0 };
  const add = (count: number, expected: number) => {
    statistic += (count - expected) ** 2 / expected;
    bins++;
  };
  Array.from(probabilities).forEach((probability, at) => {
    const expected = probability * draws;
    if (expected >= 5) add(counts[at]!, expected);
    else rest = { count: rest.count + counts[at]!, expected: rest.expected + expected };
  });
  if (rest.expected > 0) add(rest.count, rest.expected);
  const freedom = bins - 1;
  const spread = 2 / (9 * freedom);
  return { statistic, limit: freedom * (1 - spread + 3.09 * Math.sqrt(spread)) ** 3 };
}
