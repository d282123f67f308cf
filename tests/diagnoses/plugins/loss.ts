import { defineLoss, mul } from "everturn/engine";

/** A loss that is 0 whatever the policy does. */
export default defineLoss({
  loss: ({ logProbabilities, advantages }) => mul(mul(logProbabilities, advantages), 0),
});
