/** A learning rate over the steps, which count from 0. */
export interface LearningRateSchedule {
  /** The peak, after the warm-up. */
  learningRate: number;
  /** The number of steps over which it rises linearly to its peak. */
  warmupSteps: number;
  /** How it falls over `decaySteps`, counted from step 0. */
  decay: "none" | "linear" | "cosine";
  decaySteps: number;
  /** The fraction of the peak that remains at the end. */
  finalFraction: number;
}

/** Returns the learning rate of a step: the rising rate times a factor that falls from 1 to `finalFraction`. */
export function learningRateAt(schedule: LearningRateSchedule, step: number): number {
  const { learningRate, warmupSteps, decay, decaySteps, finalFraction } = schedule;
  const risen = learningRate * Math.min(1, (step + 1) / Math.max(1, warmupSteps));
  if (decay === "none") return risen;
  const progress = Math.min(1, step / Math.max(1, decaySteps));
  const left = decay === "linear" ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2;
  return risen * (finalFraction + (1 - finalFraction) * left);
}

/**
 * Returns the learning rate of an update on examples, which counts from 0: it rises over the first 8 % of the steps, and
 * then falls by a cosine to 5 %.
 */
export function supervisedRateAt(learningRate: number, steps: number, step: number): number {
  const warmupSteps = Math.round(0.08 * steps);
  return learningRateAt(
    { learningRate, warmupSteps, decay: "cosine", decaySteps: steps, finalFraction: 0.05 },
    step,
  );
}
