import { algorithmPresets, algorithms } from "../../src/engine/learning/algorithm.ts";
import type { TrainingSettings } from "../../src/engine/learning/training-settings.ts";
import type { Draw } from "./draw.ts";

/** The settings of policy-gradient steps: an algorithm's, and whatever of it may be another's. */
export function randomSettings(draw: Draw): TrainingSettings {
  const preset = algorithmPresets[draw.of(...algorithms)];
  return {
    ...preset,
    // Small: Adam moves numbers whose gradient is rounding alone as far as the others.
    decay: "none",
    decaySteps: 1,
    finalFraction: 0,
    warmupSteps: 0,
    learningRate: 1e-4,
    gradientClip: draw.of(0.5, 1),
    weightDecay: draw.of(0, 0.01),
    epochs: draw.of(1, 2),
    minibatchSize: draw.of(2, 4, 6),
    klCoefficient: draw.of(0, 0.05),
    klIn: draw.of("loss", "reward"),
    klEstimator: draw.of("k1", "k2", "k3"),
    entropyCoefficient: draw.of(0, 0.01),
    importanceCorrection: draw.of(
      "none",
      "token-truncate",
      "token-mask",
      "sequence-truncate",
      "sequence-mask",
    ),
    aggregation: draw.of("token-mean", "sequence-mean", "constant"),
    ...(preset.advantages === "gae" && {
      critic: draw.of("head", "model"),
      valueWarmupSteps: draw.of(0, 1),
    }),
    rewardNormalization: draw.of("none", "none", "scale", "standardize"),
    maskTruncated: draw.isSo(0.3),
  };
}
