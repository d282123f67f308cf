import type { Diagnosis } from "../../../results/diagnosis/diagnose.ts";

/**
 * Makes a function that writes conditions in which a run does not learn as lines for a terminal. Causes come before
 * their effects, so the first condition of a step is written with what to try, and each of the others in a line.
 */
export function diagnosisWriter(): (diagnosis: Diagnosis) => string[] {
  let written: number | undefined;
  return (diagnosis) => {
    const { condition, title, step, evidence } = diagnosis;
    const isFirst = step !== written;
    written = step;
    const when = step === 0 ? "before the first step" : `step ${step}`;
    const heading = `diagnosis ${condition} (${when}): ${title}: ${evidence}.`;
    return isFirst ? [heading, ...advice(diagnosis)] : [heading];
  };
}

function advice({ condition, consequence, remedies: [first = "", ...others] }: Diagnosis): string[] {
  return [
    `  ${consequence}`,
    `  Try: ${first}`,
    ...others.map((remedy) => `       ${remedy}`),
    `  docs/not-learning.md#${condition} explains it.`,
  ];
}
