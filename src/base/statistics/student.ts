import { incompleteBeta } from "./incomplete-beta.ts";

/** How probable a value of Student's t distribution is that is at least as far from 0 as `t`. */
export function studentTails(t: number, freedom: number): number {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/** The value beyond which, on both sides together, 5 % of Student's t distribution lies. */
export function studentQuantile(freedom: number): number {
  let [low, high] = [0, 20]; // 12.7 at one degree of freedom
  for (let round = 0; round < 60; round++) {
    const middle = (low + high) / 2;
    if (studentTails(middle, freedom) > 0.05) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
