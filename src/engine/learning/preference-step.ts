import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { PreferenceSettings } from "../../contracts/trainer.ts";
import type { TokenSequence } from "./batch.ts";
import type { TrainingEngine } from "./engine.ts";
import { actionCount, type Objective, type TrainingSample } from "./objective.ts";

/** Two answers to one prompt, the preferred one and the other. */
export interface PreferencePair {
  readonly chosen: TokenSequence;
  readonly rejected: TokenSequence;
  /** The sums of their log-probabilities under the reference in nats, if known. */
  readonly reference?: { readonly chosen: number; readonly rejected: number };
}

/** The measurements of a step on preference pairs. */
export interface PreferenceMetrics {
  loss: number;
  /** Share of pairs whose chosen answer has the higher implicit reward. */
  accuracy: number;
  /** Mean of β times the lead of the chosen answer, in nats. */
  margin: number;
  /** Before clipping. */
  gradientNorm: number;
  /** In float16: an overflow occurred, so nothing was updated. */
  skipped: boolean;
}

/**
 * Makes one update by direct preference optimization with the named loss of `preferenceObjective`. Scores pairs without
 * `reference` with the reference policy. Throws TRAINING_BATCH_INVALID, TRAINING_NOT_FINITE.
 */
export async function preferenceStep(
  engine: TrainingEngine,
  { objective, loss: kind }: { objective: Objective; loss?: PreferenceSettings["loss"] | undefined },
  pairs: readonly PreferencePair[],
  learningRate: number,
): Promise<PreferenceMetrics> {
  const references = await referencesOf(engine, pairs);
  const samples = pairs.map(({ chosen, rejected }, index): TrainingSample => {
    const counts = [actionCount(chosen), actionCount(rejected)] as const;
    if (counts.includes(0)) {
      const reason = `pair ${index} has an answer in which no token carries loss`;
      throw new EverturnError("TRAINING_BATCH_INVALID", { reason });
    }
    const actions = counts[0] + counts[1];
    const [weightOf, otherWeight] = kind === "ipo" ? [1 / counts[0], 1 / counts[1]] : [1, 1];
    const reference = references[index]!;
    const column = (of: number, other: number) =>
      new Float32Array(actions).fill(of, 0, counts[0]).fill(other, counts[0]);
    return {
      sequences: [chosen, rejected],
      columns: {
        signs: column(weightOf, -otherWeight),
        // Only the sum counts, so each token gets an equal share.
        referenceLogProbabilities: column(reference.chosen / counts[0], reference.rejected / counts[1]),
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
  const accuracy = Math.min(1, terms.accuracy!); // weights add up to 1 except for rounding
  return { loss, accuracy, margin: terms.margin!, gradientNorm, skipped };
}

async function referencesOf(engine: TrainingEngine, pairs: readonly PreferencePair[]) {
  const unknown = pairs.filter(({ reference }) => reference === undefined);
  const scores = await engine.score(
    unknown.flatMap(({ chosen, rejected }) => [chosen, rejected]),
    "reference",
  );
  const sums = scores.map(({ logProbabilities }) => logProbabilities.reduce((sum, one) => sum + one, 0));
  let next = 0;
  return pairs.map(({ reference }) => reference ?? { chosen: sums[next++]!, rejected: sums[next++]! });
}
