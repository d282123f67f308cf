import type { Estimate } from "../../contracts/measured.ts";
import { mean } from "./mean.ts";
import { shareInterval } from "./share-interval.ts";
import { studentQuantile } from "./student.ts";

/** The mean of one value per task. Its interval is Student's t, from two tasks on. 0 for no tasks. */
export function meanEstimate(values: readonly number[]): Estimate {
  const value = mean(values);
  if (values.length < 2) return { value };
  const half = studentQuantile(values.length - 1) * standardError(values);
  return { value, low: value - half, high: value + half };
}

/**
 * The mean of one share per task. If each share is 0 or 1, the interval is Wilson's. Otherwise it is Student's t
 * within 0 and 1, with tasks as the units, because samples of one task are not independent (Miller, "Adding error
 * bars to evals", 2024).
 */
export function shareEstimate(shares: readonly number[]): Estimate {
  if (shares.every((share) => share === 0 || share === 1)) {
    const [low, high] = shareInterval(mean(shares), shares.length);
    return { value: mean(shares), low, high };
  }
  const { value, low, high } = meanEstimate(shares);
  return low === undefined || high === undefined
    ? { value }
    : { value, low: Math.max(0, low), high: Math.min(1, high) };
}

/** The standard error of the mean of two or more values. */
export function standardError(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}
