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
  /** Passes the results of the portions to `use`, in order. `compute` receives the numbers of a portion's samples. */
  async function gather<Result>(
    name: string,
    portions: readonly number[][],
    compute: (portion: readonly number[]) => Promise<Result>,
    use: (result: Result) => void,
    onShare?: (share: number) => void,
  ): Promise<void> {
    const computePortion = async (at: number) => {
      onShare?.(at / portions.length);
      return serialize(await compute(portions[at]!));
    };
    await sharing.gather(name, portions.length, computePortion, (bytes) => use(deserialize(bytes)));
    onShare?.(1);
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
      const scores: ActionScores[][] = [];
      await gather<ActionScores[]>("scores", portions, ofPortion, (ofOne) => scores.push(ofOne), onShare);
      return inOrder(portions, scores);
    },
    async update({ onShare, ...request }) {
      const { objective, samples, scalars, temperature, ...rates } = request;
      const portions = portionsOf(
        samples.map(({ sequences }) => sequences),
        sharing.portions,
      );
      const ofPortion = (portion: readonly number[]) =>
        engine.gradients({ ...request, samples: portion.map((index) => samples[index]!) });
      const counts = samples.map(({ sequences }) =>
        sequences.reduce((sum, sequence) => sum + actionCount(sequence), 0),
      );
      const sums = sumOfPortions(portions, counts);
      await gather<SummedPasses>("gradients", portions, ofPortion, sums.add, onShare);
      return engine.apply(sums.total(), rates);
    },
  };
}

/** Adds up the sums of portions in their order. `counts`: the action tokens of each sample. */
function sumOfPortions(portions: readonly number[][], counts: readonly number[]) {
  let total: SummedPasses | undefined;
  const logProbabilities: Float32Array[][] = [];
  return {
    /** Adds the sums of the next portion. Changes the gradients of the first one. */
    add(ofPortion: SummedPasses): void {
      let end = 0;
      const ofSamples = portions[logProbabilities.length]!.map((index) => {
        const start = end;
        end += counts[index]!;
        return ofPortion.logProbabilities.subarray(start, end); // a critic has none
      });
      logProbabilities.push(ofSamples);
      if (total === undefined) {
        total = ofPortion;
        return;
      }
      total.loss += ofPortion.loss;
      for (const [name, term] of Object.entries(ofPortion.terms)) total.terms[name]! += term;
      for (const [name, gradient] of ofPortion.gradients) addInPlace(total.gradients.get(name)!, gradient);
    },
    total(): SummedPasses {
      return { ...total!, logProbabilities: joined(inOrder(portions, logProbabilities)) };
    },
  };
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
