import { add, exp, mul, negate } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import type { FloatValue, IntValue } from "./graph.ts";
import { gatherElements, scatterAdd } from "./indexing.ts";
import { logSoftmax, reduceSum } from "./reductions.ts";
import { reshape } from "./shaping.ts";

/** For each row: the log-probability of its target, and the entropy of the whole distribution, in nats. */
export interface TokenDistribution {
  logProbabilities: FloatValue;
  entropies: FloatValue;
}

/** Returns the distributions of logits [rows, vocabulary] at temperature 1, evaluated at targets [rows]. */
export function tokenDistribution(logits: FloatValue, targets: IntValue): TokenDistribution {
  const { graph } = logits;
  const [rows] = logits.shape;
  const column = reshape(targets, [rows, 1]);
  let logs = logits;
  let probabilities = logits;
  const logProbabilities = graph.composite("TargetLogProbability", [logits, column], () => {
    logs = logSoftmax(logits);
    probabilities = exp(logs);
    return { output: reshape(gatherElements(logs, column), [rows]), saved: [probabilities] };
  });
  const entropies = graph.composite("Entropy", [logits], () => {
    const output = negate(reduceSum(mul(probabilities, logs), [-1]));
    return { output, saved: [logs, probabilities] };
  });
  return { logProbabilities, entropies };
}

/** dlogits = dy · (one-hot(target) − p). */
export const targetLogProbabilityRule: GradientRule = (
  dy,
  { floats: [logits], ints: [targets], saved: [probabilities] },
) => {
  const gradient = reshape(dy, [logits.shape[0], 1]);
  return [scatterAdd(mul(probabilities, negate(gradient)), targets, gradient, -1)];
};

/** dlogits = −dy · p · (log p + H). */
export const entropyRule: GradientRule = (dy, { output, saved: [logs, probabilities] }) => {
  const column = [logs.shape[0], 1];
  return [mul(mul(probabilities, negate(reshape(dy, column))), add(logs, reshape(output, column)))];
};
