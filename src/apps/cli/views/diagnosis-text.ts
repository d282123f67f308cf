import type { Diagnosis } from "../../../results/diagnosis/diagnose.ts";

/** A condition in which a run does not learn, as lines for a terminal: the first names it, the rest explain it. */
export function diagnosisLines({
  condition,
  title,
  step,
  evidence,
  consequence,
  remedies: [first = "", ...others],
}: Diagnosis): string[] {
  return [
    `diagnosis ${condition} (step ${step}): ${title}: ${evidence}.`,
    `  ${consequence}`,
    `  Try: ${first}`,
    ...others.map((remedy) => `       ${remedy}`),
    `  docs/not-learning.md#${condition} explains it.`,
  ];
}
