import { deserialize, serialize } from "node:v8";
import type { PortionSharing } from "../../contracts/trainer.ts";
import type { TrainingEngine } from "./engine.ts";
import { actionCount, joined } from "./objective.ts";
import { addInPlace } from "./pass-gradients.ts";
import { portionsOf } from "./portions.ts";
import type { ActionScores } from "./score-actions.ts";
import type { SummedPasses } from "./summed-passes.ts";
import type { OpenTrainingEngine } from "./training-engine.ts";

/**
 * Returns an engine whose scores and gradients several trainers compute in portions. The portions depend only on the
 * samples, and their gradients are added in order. So the result is bit for bit the same for any number of trainers.
 */
export function dataParallelEngine(engine: OpenTrainingEngine, sharing: PortionSharing): TrainingEngine {
  /** Returns the results of the portions of `samples`. `compute` receives the numbers of a portion's samples. */
  async function gather<Result>(
    name: string,
    portions: readonly number[][],
    compute: (portion: readonly number[]) => Promise<Result>,
    onShare?: (share: number) => void,
  ): Promise<Result[]> {
    const results = await sharing.gather(name, portions.length, async (at) => {
      onShare?.(at / portions.length);
      return serialize(await compute(portions[at]!));
    });
    onShare?.(1);
    return results.map((bytes): Result => deserialize(bytes));
  }

  return {
    check: engine.check,
    async score(sequences, weights, temperature, onShare) {
      const portions = portionsOf(
        sequences.map((sequence) => [sequence]),
        sharing.portions,
      );
      const ofPortion = (portion: readonly number[]) =>
        engine.score(
          portion.map((index) => sequences[index]!),
          weights,
          temperature,
        );
      return inOrder(portions, await gather<ActionScores[]>("scores", portions, ofPortion, onShare));
    },
    async update({ onShare, ...request }) {
      const { objective, samples, scalars, temperature, ...rates } = request;
      const portions = portionsOf(
        samples.map(({ sequences }) => sequences),
        sharing.portions,
      );
      const ofPortion = (portion: readonly number[]) =>
        engine.gradients({ ...request, samples: portion.map((index) => samples[index]!) });
      const sums = await gather<SummedPasses>("gradients", portions, ofPortion, onShare);
      const counts = samples.map(({ sequences }) =>
        sequences.reduce((sum, sequence) => sum + actionCount(sequence), 0),
      );
      return engine.apply(summed(sums, portions, counts), rates);
    },
  };
}

/** Adds up the sums of portions. `counts`: the action tokens of each sample. Changes the gradients of the first one. */
function summed(
  [first, ...others]: readonly SummedPasses[],
  portions: readonly number[][],
  counts: readonly number[],
): SummedPasses {
  const { gradients, ...sum } = first!;
  const terms = { ...sum.terms };
  for (const other of others) {
    sum.loss += other.loss;
    for (const [name, term] of Object.entries(other.terms)) terms[name]! += term;
    for (const [name, gradient] of other.gradients) addInPlace(gradients.get(name)!, gradient);
  }
  const logProbabilities = [first!, ...others].map((one, at) => {
    let end = 0;
    return portions[at]!.map((index) => {
      const start = end;
      end += counts[index]!;
      return one.logProbabilities.subarray(start, end); // a critic has none
    });
  });
  return { ...sum, terms, gradients, logProbabilities: joined(inOrder(portions, logProbabilities)) };
}

/** Returns the results of all samples, from those of each portion's samples. */
function inOrder<Result>(portions: readonly number[][], results: readonly Result[][]): Result[] {
  const ordered: Result[] = [];
  portions.forEach((portion, at) => {
    portion.forEach((index, within) => {
      ordered[index] = results[at]![within]!;
    });
  });
  return ordered;
}
