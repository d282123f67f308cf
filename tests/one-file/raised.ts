import { add, defineLoss, exp, mul, sub } from "everturn/engine";

/** The policy gradient by ratios that nothing clips, raised by a constant that has no gradient. */
export default defineLoss({
  config: {
    type: "object",
    additionalProperties: false,
    required: ["by"],
    properties: { by: { type: "number" } },
  },
  loss: ({ logProbabilities, oldLogProbabilities, advantages }, { by }) =>
    add(mul(mul(exp(sub(logProbabilities, oldLogProbabilities)), advantages), -1), by),
});
