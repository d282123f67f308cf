/** How far an update goes, from one parameter to another. */
export interface LearningRates {
  learningRate: number;
  /** Of the value head; default: that of all else. */
  valueLearningRate?: number;
}

/** What the names of the value head's parameters begin with. */
export const valueHeadPrefix = "value_head.";

/** The learning rate of a parameter. */
export function rateOf(
  name: string,
  { learningRate, valueLearningRate = learningRate }: LearningRates,
): number {
  return name.startsWith(valueHeadPrefix) ? valueLearningRate : learningRate;
}
