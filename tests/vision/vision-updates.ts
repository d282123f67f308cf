import { supervisedObjective } from "../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState } from "../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../src/engine/learning/training-engine.ts";
import { allWeightShapes, isVisionWeight } from "../../src/engine/models/weights/vision-weights.ts";
import { createImageEncoder } from "../../src/engine/vision/open-image-encoder.ts";
import { createTrainedImages } from "../../src/engine/vision/trained-images.ts";
import { withPrefix } from "../unit/torch-fixtures.ts";
import { placedIn } from "./compared.ts";
import type { VisionFixture } from "./vision-fixtures.ts";

/**
 * The root mean squares of the errors of weights, relative to those of their changes. Adam divides a number's gradient by
 * its size, so the error of a number whose gradient is almost 0 is large.
 */
export interface UpdatesError {
  language: number;
  vision: number;
}

/**
 * Trains all weights of a fixture's model in two updates, in passes of at most this many tokens, and compares them with
 * PyTorch's.
 */
export async function updatesError(
  { config, vision, tensors, images, sequences }: VisionFixture,
  maxTokensPerRun = 1024,
): Promise<UpdatesError> {
  const weights = new Map([...allWeightShapes(config).keys()].map((name) => [name, tensors.get(name)!]));
  const state = freshTrainerState({ config, trainsVision: true }, weights);
  const trained = createTrainedImages(config, vision, state, async () =>
    createImageEncoder(config, vision, { tensors }),
  );
  const settings = { gradientClip: 1, weightDecay: 0.1, betas: [0.9, 0.95] } as const;
  const engine = createTrainingEngine({ config, state, images: trained, maxTokensPerRun, ...settings });
  const placed = await placedIn(trained.table, images, sequences);
  const marked = sequences.flatMap(({ mask }) => mask).filter(Boolean).length;
  const samples = placed.map((sequence) => {
    const count = sequence.mask.filter(Boolean).length;
    return { sequences: [sequence], columns: { weights: new Float32Array(count).fill(1 / marked) } };
  });
  for (let update = 0; update < 2; update++)
    await engine.update({ objective: supervisedObjective, samples, scalars: {}, learningRate: 0.01 });
  await engine.close();
  await trained.close();
  const expected = withPrefix(tensors, "after.");
  const zero = /k_proj\.bias$/; // softmax doesn't see what all scores of a query share, so its gradient is noise
  const errorOf = (isOne: (name: string) => boolean) => {
    let [error, change] = [0, 0];
    for (const [name, { data: before }] of weights) {
      if (!isOne(name) || zero.test(name)) continue;
      const [own, after] = [state.weights.get(name)!.data, expected.get(name)!.data];
      after.forEach((value, at) => {
        error += (own[at]! - value) ** 2;
        change += (value - before[at]!) ** 2;
      });
    }
    return Math.sqrt(error / change);
  };
  return { language: errorOf((name) => !isVisionWeight(name)), vision: errorOf(isVisionWeight) };
}
