/**
 * Splits samples into runs that hold at most `limit` tokens each (a longer sample runs alone): the numbers of the
 * samples of each run. Samples of like length come together, so that attention, which pads them, wastes little.
 * Deterministic.
 */
export function tokenRuns(lengths: readonly number[], limit: number): number[][] {
  const order = lengths.map((_, index) => index).sort((a, b) => lengths[b]! - lengths[a]! || a - b);
  const runs: number[][] = [];
  let space = 0;
  for (const index of order) {
    const length = lengths[index]!;
    const last = runs.at(-1);
    if (last && length <= space) last.push(index);
    else {
      runs.push([index]);
      space = limit;
    }
    space -= length;
  }
  return runs;
}
