import { logGamma } from "./log-gamma.ts";

/** The probability that a value of Student's t distribution is at least as far from 0 as `t`. */
export function studentTails(t: number, freedom: number): number {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/** The value beyond which 5 % of Student's t distribution is, both sides together. */
export function studentQuantile(freedom: number): number {
  let [low, high] = [0, 20]; // 12.7 at one degree of freedom
  for (let round = 0; round < 60; round++) {
    const middle = (low + high) / 2;
    if (studentTails(middle, freedom) > 0.05) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const tiny = 1e-300;

/** The regularized incomplete beta function I_x(a, b), by Lentz's continued fraction (Numerical Recipes, 6.4). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return (Math.exp(front) * fraction(x, a, b)) / a;
}

function fraction(x: number, a: number, b: number): number {
  const kept = (value: number) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / kept(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept(1 + even * d);
    c = kept(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept(1 + odd * d);
    c = kept(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return result;
}
