import type { Trainer } from "../../contracts/trainer.ts";
import { type ImagePlacer, withPlacedImages } from "./placed-sequences.ts";
import { supervisedRateAt } from "./schedule.ts";
import type { TrainerSteps } from "./trainer-steps.ts";

/**
 * A trainer's steps in the form of the plugin contract. `supervisedSteps` returns the number of supervised steps before
 * the next one, at which the schedule of its learning rate stands. A model that reads images needs a placer.
 */
export function pluginSteps(
  steps: TrainerSteps,
  supervisedSteps: () => number,
  placer?: ImagePlacer,
): Required<Pick<Trainer, "supervisedStep" | "preferenceStep" | "score" | "policyGradientStep">> {
  return {
    supervisedStep: (batch, settings) =>
      withPlacedImages(placer, batch, (sequences) =>
        steps.supervisedStep(
          sequences,
          supervisedRateAt(settings.learningRate, settings.steps, supervisedSteps()),
        ),
      ),
    async preferenceStep(pairs, { learningRate: peak, steps: all, ...settings }) {
      const learningRate = supervisedRateAt(peak, all, supervisedSteps());
      const both = pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]);
      const { skipped: _, ...metrics } = await withPlacedImages(placer, both, (placed) => {
        const placedPairs = pairs.map(({ reference }, index) => ({
          chosen: placed[2 * index]!,
          rejected: placed[2 * index + 1]!,
          reference,
        }));
        return steps.preferenceStep(placedPairs, learningRate, settings);
      });
      return { ...metrics, learningRate };
    },
    score: (sequences, by) => withPlacedImages(placer, sequences, (placed) => steps.score(placed, by)),
    async policyGradientStep(trajectories, settings) {
      const { tokens: _, ...metrics } = await withPlacedImages(placer, trajectories, (placed) =>
        steps.policyGradientStep(placed, settings),
      );
      return metrics;
    },
  };
}
