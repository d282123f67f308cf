import type { PredictedTokens } from "./exact-data.ts";

/** One probed update. */
export interface Trial {
  /** What it sends, for messages. */
  name: string;
  /** Its calls, each with one sequence or more. */
  calls: PredictedTokens[][];
}

/** The sequences of the trials. The second is the first one's beginning, the third is another one. */
export function probeSequences(vocabulary: number): number[][] {
  const sequence = (length: number, start: number, by: number) =>
    Array.from({ length }, (_, at) => (start + by * at) % vocabulary);
  return [sequence(7, 5, 3), sequence(5, 5, 3), sequence(6, 4, 5)];
}

/**
 * The updates that show whether a gradient with respect to log-probabilities acts linearly. `scores` are the
 * log-probabilities of the targets of `probeSequences`.
 */
export function probeTrials(sequences: readonly number[][], scores: readonly Float32Array[]) {
  const along = (which: number, gradient: readonly number[]): PredictedTokens => {
    const tokens = sequences[which]!;
    return {
      inputs: tokens.slice(0, -1),
      targets: tokens.slice(1),
      logProbabilities: scores[which]!,
      gradients: Float32Array.from({ length: tokens.length - 1 }, (_, at) => gradient[at] ?? 0),
    };
  };
  const [both, half] = [along(1, [0, 1, 1]), along(1, [0, 0.5, 0.5])];
  const trial = (name: string, ...calls: PredictedTokens[][]): Trial => ({ name, calls });
  return {
    both: trial("a gradient of two tokens", [both]),
    first: trial("the gradient of the first token alone", [along(1, [0, 1])]),
    second: trial("the gradient of the second token alone", [along(1, [0, 0, 1])]),
    difference: trial("a gradient whose sum is 0", [along(1, [0, 1, -1])]),
    negative: trial("the negative gradient", [along(1, [0, -1, -1])]),
    double: trial("twice the gradient", [along(1, [0, 2, 2])]),
    halves: trial("half the gradient in each of two calls", [half], [half]),
    beside: trial("the gradient next to a sequence without one", [both, along(2, [])]),
    longer: trial("the gradient in a longer sequence", [along(0, [0, 1, 1])]),
  };
}

/** The norms that follow from those of the first three trials, by trial. */
export function expectedNorms(both: number, first: number, second: number) {
  return {
    difference: Math.sqrt(Math.max(0, 2 * first ** 2 + 2 * second ** 2 - both ** 2)), // the parallelogram law
    negative: both,
    double: 2 * both,
    halves: both,
    beside: both,
    longer: both,
  };
}

/** Returns the inner product of a trial's gradients with numbers of the same shape. */
export function product({ calls }: Trial, numbers: (sequence: PredictedTokens) => Float32Array): number {
  return calls.flat().reduce((total, sequence) => {
    const factors = numbers(sequence);
    return sequence.gradients.reduce((sum, gradient, at) => sum + gradient * factors[at]!, total);
  }, 0);
}
