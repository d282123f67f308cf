/** How far an update goes, from one parameter to another: numbers, or values of a graph. */
export interface LearningRates<Rate = number> {
  learningRate: Rate;
  /** Of the value head; default: that of all else. */
  valueLearningRate?: Rate;
}

/** What the names of the value head's parameters begin with. */
export const valueHeadPrefix = "value_head.";

/** The learning rate of a parameter. */
export function rateOf<Rate>(
  name: string,
  { learningRate, valueLearningRate = learningRate }: LearningRates<Rate>,
): Rate {
  return name.startsWith(valueHeadPrefix) ? valueLearningRate : learningRate;
}
