/** How a learning rate goes over the steps, which count from 0. */
export interface LearningRateSchedule {
  /** After the warm-up. */
  learningRate: number;
  /** Steps over which it rises to its value, linearly. */
  warmupSteps: number;
  /** How it falls over `decaySteps`, counted from step 0. */
  decay: "none" | "linear" | "cosine";
  decaySteps: number;
  /** The fraction of it that is left in the end. */
  finalFraction: number;
}

/** The learning rate of a step: rising, times a factor that falls from 1 to `finalFraction`. */
export function learningRateAt(schedule: LearningRateSchedule, step: number): number {
  const { learningRate, warmupSteps, decay, decaySteps, finalFraction } = schedule;
  const risen = learningRate * Math.min(1, (step + 1) / Math.max(1, warmupSteps));
  if (decay === "none") return risen;
  const progress = Math.min(1, step / Math.max(1, decaySteps));
  const left = decay === "linear" ? 1 - progress : (1 + Math.cos(Math.PI * progress)) / 2;
  return risen * (finalFraction + (1 - finalFraction) * left);
}
