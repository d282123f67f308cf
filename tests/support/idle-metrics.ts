import type { PolicyGradientMetrics } from "../../src/contracts/trainer.ts";

/** The metrics of a policy-gradient step that changed nothing. */
export const idleMetrics: PolicyGradientMetrics = {
  approximateKl: 0,
  entropy: 0,
  clipFraction: 0,
  policyLoss: 0,
  gradientNorm: 0,
  learningRate: 0,
  logprobGap: 0,
};
