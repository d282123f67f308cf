/** A learning rate that rises linearly over `warmupSteps`. Steps count from 0. */
export interface WarmupSchedule {
  learningRate: number;
  warmupSteps: number;
}

/** A schedule of `steps` steps that ends at `finalFraction` of its learning rate. */
export interface CosineSchedule extends WarmupSchedule {
  steps: number;
  finalFraction: number;
}

/** The learning rate of a step: rising, then constant. */
export function warmupThenConstant({ learningRate, warmupSteps }: WarmupSchedule, step: number): number {
  return learningRate * Math.min(1, (step + 1) / Math.max(1, warmupSteps));
}

/** The learning rate of a step: rising, times a cosine that falls from 1 to `finalFraction` over all steps. */
export function warmupThenCosine(schedule: CosineSchedule, step: number): number {
  const progress = Math.min(1, step / Math.max(1, schedule.steps));
  const cosine = (1 + Math.cos(Math.PI * progress)) / 2;
  const { finalFraction } = schedule;
  return warmupThenConstant(schedule, step) * (finalFraction + (1 - finalFraction) * cosine);
}
