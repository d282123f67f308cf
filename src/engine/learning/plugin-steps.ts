import type { Trainer } from "../../contracts/trainer.ts";
import { supervisedRateAt } from "./schedule.ts";
import type { TrainerSteps } from "./trainer-steps.ts";

/**
 * A trainer's steps in the form of the plugin contract. `supervisedSteps` returns the number of supervised steps before
 * the next one, at which the schedule of its learning rate stands.
 */
export function pluginSteps(
  steps: TrainerSteps,
  supervisedSteps: () => number,
): Required<Pick<Trainer, "supervisedStep" | "preferenceStep" | "score" | "policyGradientStep">> {
  return {
    supervisedStep: (batch, settings) =>
      steps.supervisedStep(batch, supervisedRateAt(settings.learningRate, settings.steps, supervisedSteps())),
    async preferenceStep(pairs, { learningRate: peak, steps: all, ...settings }) {
      const learningRate = supervisedRateAt(peak, all, supervisedSteps());
      const { skipped: _, ...metrics } = await steps.preferenceStep(pairs, learningRate, settings);
      return { ...metrics, learningRate };
    },
    score: (sequences, by) => steps.score(sequences, by),
    async policyGradientStep(trajectories, settings) {
      const { tokens: _, ...metrics } = await steps.policyGradientStep(trajectories, settings);
      return metrics;
    },
  };
}
