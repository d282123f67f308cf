import { EverturnError } from "../errors/everturn-error.ts";
import type { TokenSequence } from "./batch.ts";
import type { TrainingEngine } from "./engine.ts";
import { actionCount, joined, type Objective, type TrainingSample } from "./objective.ts";

/** Two answers to one prompt, of which the first is preferred. */
export interface PreferencePair {
  readonly chosen: TokenSequence;
  readonly rejected: TokenSequence;
}

/** What a step on preference pairs measured. */
export interface PreferenceMetrics {
  loss: number;
  /** Share of pairs whose chosen answer is ahead. */
  accuracy: number;
  /** The mean of β times what the chosen answer is ahead by, in nats. */
  margin: number;
  /** Before clipping. */
  gradientNorm: number;
  /** In float16: something overflowed, so nothing was updated. */
  skipped: boolean;
}

/** One update by direct preference optimization (preferenceObjective). Throws TRAINING_BATCH_INVALID, TRAINING_NOT_FINITE. */
export async function preferenceStep(
  engine: TrainingEngine,
  objective: Objective,
  pairs: readonly PreferencePair[],
  learningRate: number,
): Promise<PreferenceMetrics> {
  const reference = await engine.score(
    pairs.flatMap(({ chosen, rejected }) => [chosen, rejected]),
    "reference",
  );
  const samples = pairs.map(({ chosen, rejected }, index): TrainingSample => {
    const counts = [actionCount(chosen), actionCount(rejected)];
    if (counts.includes(0)) {
      const reason = `pair ${index} has an answer of which no token carries loss`;
      throw new EverturnError("TRAINING_BATCH_INVALID", { reason });
    }
    const actions = counts.reduce((sum, count) => sum + count, 0);
    const [of, other] = [reference[2 * index]!, reference[2 * index + 1]!];
    return {
      sequences: [chosen, rejected],
      columns: {
        signs: new Float32Array(actions).fill(1, 0, counts[0]).fill(-1, counts[0]),
        referenceLogProbabilities: joined([of.logProbabilities, other.logProbabilities]),
        pairWeights: new Float32Array(actions).fill(1 / (pairs.length * actions)),
      },
    };
  });
  const { loss, terms, gradientNorm, skipped } = await engine.update({
    objective,
    samples,
    scalars: {},
    learningRate,
  });
  return { loss, accuracy: terms.accuracy!, margin: terms.margin!, gradientNorm, skipped };
}
