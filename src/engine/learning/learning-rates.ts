/** The learning rates of an update, as numbers or values of a graph. */
export interface LearningRates<Rate = number> {
  learningRate: Rate;
  /** For the value head. Default: `learningRate`. */
  valueLearningRate?: Rate;
}

/** The prefix of the names of the value head's parameters. */
export const valueHeadPrefix = "value_head.";

/** Returns the learning rate of a parameter. */
export function rateOf<Rate>(
  name: string,
  { learningRate, valueLearningRate = learningRate }: LearningRates<Rate>,
): Rate {
  return name.startsWith(valueHeadPrefix) ? valueLearningRate : learningRate;
}
