/** A draw: which part it is of, and how many of that part came before it. */
interface SharedDraw {
  part: number;
  nth: number;
}

/**
 * Shares out draws by weight: draws `from` to `to` (from 0, the latter left out). After any number of draws each part has
 * had its share as nearly as whole draws can (Webster's method: the next one goes to the largest weight / (2 × had + 1)). A part
 * of weight 0 gets none. A function of its arguments alone.
 */
export function sharedOut(weights: readonly number[], from: number, to: number): SharedDraw[] {
  const had = weights.map(() => 0);
  const draws: SharedDraw[] = [];
  for (let draw = 0; draw < to; draw++) {
    let part = 0;
    for (let other = 1; other < weights.length; other++) {
      if (claim(weights, had, other) > claim(weights, had, part)) part = other;
    }
    const nth = had[part] ?? 0;
    if (draw >= from) draws.push({ part, nth });
    had[part] = nth + 1;
  }
  return draws;
}

function claim(weights: readonly number[], had: readonly number[], part: number): number {
  return (weights[part] ?? 0) / (2 * (had[part] ?? 0) + 1);
}
