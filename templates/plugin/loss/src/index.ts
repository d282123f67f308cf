import { defineLoss, mul, negate } from "everturn/engine";

/** REINFORCE: the logarithm of each token's probability, times its advantage. */
export default defineLoss({
  loss: ({ logProbabilities, advantages }) => negate(mul(advantages, logProbabilities)),
});
