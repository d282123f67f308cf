/** The part that a draw belongs to, and how many draws of that part came before it. */
interface SharedDraw {
  part: number;
  nth: number;
}

/**
 * Distributes draws by weight: draws `from` (inclusive, from 0) to `to` (exclusive). After any number of draws each
 * part has its share as exactly as whole draws allow (Webster's method: the next draw goes to the largest weight /
 * (2 × had + 1)). A part of weight 0 gets none. It depends only on its arguments.
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
