import { div, exp, type LossFunction, mul, positive, sigmoid, sub, where } from "everturn/engine";

/** Soft adaptive policy optimization (arXiv 2511.20347): a ratio fades out smoothly instead of being clipped. */
const softGate: LossFunction = ({ logProbabilities, oldLogProbabilities, advantages }, config) => {
  const ratios = exp(sub(logProbabilities, oldLogProbabilities));
  const temperatures = where(positive(advantages), Number(config.positive), Number(config.negative));
  const gates = div(mul(sigmoid(mul(sub(ratios, 1), temperatures)), 4), temperatures);
  return mul(mul(gates, advantages), -1);
};

export default softGate;
