import type { Estimate } from "../../contracts/measured.ts";
import { meanEstimate, standardError } from "./estimate.ts";
import { logGamma } from "./log-gamma.ts";
import { mean } from "./mean.ts";
import { studentTails } from "./student.ts";

/** The difference between two evaluations on the same tasks: the second minus the first. */
export interface PairedDifference extends Estimate {
  /** The probability of a difference at least this large if the two are really equal; 1 for fewer than two tasks. */
  p: number;
  test: "mcnemar" | "paired-t";
}

/**
 * The difference of two means over the same tasks in the same order. If each value is 0 or 1, `p` comes from the
 * exact McNemar test (the sign test of the tasks that changed), otherwise from the paired t test.
 */
export function pairedDifference(first: readonly number[], second: readonly number[]): PairedDifference {
  const differences = second.map((value, index) => value - (first[index] ?? 0));
  const estimate = meanEstimate(differences);
  if ([...first, ...second].every((value) => value === 0 || value === 1)) {
    const gained = differences.filter((difference) => difference > 0).length;
    const lost = differences.filter((difference) => difference < 0).length;
    return { ...estimate, p: signTest(gained, lost), test: "mcnemar" };
  }
  return { ...estimate, p: pairedT(differences), test: "paired-t" };
}

/**
 * The exact two-sided sign test: the probability of a split at least this uneven if both sides are equally likely.
 */
export function signTest(gained: number, lost: number): number {
  const count = gained + lost;
  let tail = 0;
  for (let fewer = 0; fewer <= Math.min(gained, lost); fewer++) {
    const ways = logGamma(count + 1) - logGamma(fewer + 1) - logGamma(count - fewer + 1);
    tail += Math.exp(ways - count * Math.LN2);
  }
  return Math.min(1, 2 * tail);
}

function pairedT(differences: readonly number[]): number {
  if (differences.length < 2) return 1;
  const error = standardError(differences);
  if (error === 0) return mean(differences) === 0 ? 1 : 0;
  return studentTails(mean(differences) / error, differences.length - 1);
}
