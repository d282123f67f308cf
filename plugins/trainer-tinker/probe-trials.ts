import type { ClippedTokens, PredictedTokens } from "./exact-data.ts";

/** One probed update. */
export interface Trial {
  /** What it sends, for messages. */
  name: string;
  /** Its calls, each with one sequence or more. */
  calls: PredictedTokens[][];
}

/** A probed update by the clipped loss. */
export interface ClippedTrial {
  calls: ClippedTokens[][];
  /** The update whose gradient it should have. */
  same: Trial;
}

/** The limits of the ratio in the trials. A server that ignores them in favor of 0.8 and 1.2 is noticed. */
export const clippedLimits = { low: 0.6, high: 1.5 };

/**
 * The sequences of the trials. The second is the first one's beginning. The third is another one, and ends with the
 * vocabulary's last token.
 */
export function probeSequences(vocabulary: number): number[][] {
  const sequence = (length: number, start: number, by: number) =>
    Array.from({ length }, (_, at) => (start + by * at) % vocabulary);
  return [sequence(7, 5, 3), sequence(5, 5, 3), [...sequence(5, 4, 5), vocabulary - 1]];
}

/**
 * The updates that show whether a gradient with respect to log-probabilities acts linearly. `scores` are the
 * log-probabilities of the targets of `probeSequences`.
 */
export function probeTrials(sequences: readonly number[][], scores: readonly Float32Array[]) {
  const along = (which: number, gradient: readonly number[]) => {
    return alongGradient(sequences[which]!, scores[which]!, gradient);
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

/** A token of a clipped trial: its ratio, its advantage, and the derivative of −min(r A, clip(r) A). */
type ClippedToken = readonly [ratio: number, advantage: number, gradient: number];

/** The updates that show whether the clipped loss is the server's own one: at ratio 1, and inside and outside the limits. */
export function clippedTrials(
  sequences: readonly number[][],
  scores: readonly Float32Array[],
): ClippedTrial[] {
  const trial = (name: string, which: number, tokens: readonly ClippedToken[], calls: number) => {
    const along = alongGradient(
      sequences[which]!,
      scores[which]!,
      tokens.map(([, , gradient]) => gradient),
    );
    const { inputs, targets, logProbabilities } = along;
    const clipped: ClippedTokens = {
      inputs,
      targets,
      oldLogProbabilities: logProbabilities.map((value, at) => value - Math.log(tokens[at]?.[0] ?? 1)),
      advantages: Float32Array.from(targets, (_, at) => tokens[at]?.[1] ?? 0),
    };
    return {
      calls: Array.from({ length: calls }, () => [clipped]),
      same: { name, calls: Array.from({ length: calls }, () => [along]) },
    };
  };
  const none: ClippedToken = [1, 0, 0];
  return [
    trial("the clipped loss at ratio 1", 1, [none, [1, -0.5, 0.5], [1, -0.5, 0.5]], 2),
    trial(
      "the clipped loss at other ratios",
      0,
      [none, [1.3, 1, -1.3], [2, 1, 0], [0.7, -1, 0.7], [0.4, -1, 0], [2, -1, 2]],
      1,
    ),
  ];
}

function alongGradient(
  tokens: readonly number[],
  logProbabilities: Float32Array,
  gradient: readonly number[],
): PredictedTokens {
  return {
    inputs: tokens.slice(0, -1),
    targets: tokens.slice(1),
    logProbabilities,
    gradients: Float32Array.from({ length: tokens.length - 1 }, (_, at) => gradient[at] ?? 0),
  };
}

/** Returns a trial with the opposite gradient. */
export function opposite({ name, calls }: Trial): Trial {
  const negative = calls.map((call) =>
    call.map((one) => ({ ...one, gradients: one.gradients.map((value) => -value) })),
  );
  return { name, calls: negative };
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
