import type { Reduction } from "../../plugins/trainer-tinker/profiles.ts";
import type { OptimizerNumbers } from "../../plugins/trainer-tinker/server-model.ts";

/** A datum as a server receives it, with the log-probabilities that it computed itself. */
export interface ReceivedDatum {
  columns: Readonly<Record<string, ArrayLike<number>>>;
  logProbabilities: ArrayLike<number>;
}

/** The name of a loss whose derivatives a call contains, in the column `gradients`. Only Hatchery has it. */
export const customLoss = "custom";

/**
 * The derivative of a call's loss with respect to the log-probabilities of each datum, before any division by the
 * number of sequences since the last optimizer step. Written from the published sources: TuFT 0.2.2 (`loss_fn`), SkyRL
 * 0.4.0 (`tinker/loss_fns.py`, `per_seq_loss` in `backends/jax.py`), hatchery-core 0.3.0 (`losses.py`). `config` has
 * the limits of the loss `ppo`.
 */
export function derivativesOf(
  reduction: Reduction,
  loss: string,
  call: readonly ReceivedDatum[],
  config: Readonly<Record<string, number>> = {},
): Float64Array[] {
  if (loss === customLoss) return call.map(({ columns }) => Float64Array.from(columns.gradients ?? []));
  const { clip_low_threshold: low = 0.8, clip_high_threshold: high = 1.2 } = config;
  const weightsOf = ({ columns, logProbabilities }: ReceivedDatum) =>
    Float64Array.from(logProbabilities, (_, at) => columns.weights?.[at] ?? 1);
  const tokens = call.map((datum) => {
    const weights = weightsOf(datum);
    if (loss === "cross_entropy") {
      return weights.map((weight) => (reduction === "unweighted" ? -Number(weight !== 0) : -weight));
    }
    const { logprobs, advantages } = datum.columns;
    return weights.map((weight, at) => {
      const ratio = Math.exp(datum.logProbabilities[at]! - logprobs![at]!);
      const advantage = advantages![at]!;
      const isClipped = loss === "ppo" && (advantage > 0 ? ratio > high : ratio < low);
      return isClipped ? 0 : -weight * ratio * advantage;
    });
  });
  const sums = call.map((datum) => weightsOf(datum).reduce((sum, weight) => sum + weight, 0));
  const divisor = (index: number): number => {
    if (reduction === "sum") return 1;
    if (reduction === "sequence-mean") return Math.max(sums[index]!, 1e-9);
    return Math.max(
      sums.reduce((total, sum) => total + sum, 0),
      1,
    );
  };
  return tokens.map((derivatives, index) => derivatives.map((value) => value / divisor(index)));
}

/** A row of logits, with Adam's moments. */
interface TinyRow {
  weights: Float64Array;
  first: Float64Array;
  second: Float64Array;
}

/** The weights and Adam's state of a tiny model. Rows that never had a gradient are absent. */
export interface TinyState {
  rows: Map<number, TinyRow>;
  steps: number;
}

/** A softmax over the next token that depends only on the current one: a table of logits, with AdamW, in float64. */
export interface TinyModel {
  /** The log-probability of each token after an input. */
  next(input: number): Float64Array;
  /** The log-probability of each target after its input. */
  forward(inputs: readonly number[], targets: readonly number[]): Float64Array;
  /** Adds the gradient of a loss with these derivatives with respect to the log-probabilities. */
  add(inputs: readonly number[], targets: readonly number[], derivatives: ArrayLike<number>): void;
  /** Makes one update from the sum of the gradients over a divisor. Returns the norm before clipping. */
  step(numbers: OptimizerNumbers, divisor: number): number;
  state(): TinyState;
}

/** Creates a tiny model, fresh or from a saved state. */
export function tinyModel(vocabulary: number, from: TinyState = { rows: new Map(), steps: 0 }): TinyModel {
  const rows = copied(from.rows);
  let { steps } = from;
  let gradients = new Map<number, Float64Array>();
  const probabilities = (input: number) => {
    const { weights } = rows.get(input) ?? freshRow(input, vocabulary);
    const largest = weights.reduce((most, logit) => Math.max(most, logit));
    const exponents = weights.map((logit) => Math.exp(logit - largest));
    const total = exponents.reduce((sum, value) => sum + value, 0);
    return exponents.map((value) => value / total);
  };
  return {
    next: (input) => probabilities(input).map(Math.log),
    forward: (inputs, targets) =>
      Float64Array.from(targets, (target, at) => Math.log(probabilities(inputs[at]!)[target]!)),
    add(inputs, targets, derivatives) {
      targets.forEach((target, at) => {
        if (derivatives[at] === 0) return;
        const input = inputs[at]!;
        const gradient = gradients.get(input) ?? new Float64Array(vocabulary);
        probabilities(input).forEach((probability, token) => {
          gradient[token]! += derivatives[at]! * (Number(token === target) - probability);
        });
        gradients.set(input, gradient);
      });
    },
    step({ learningRate, beta1, beta2, epsilon, weightDecay, gradientClip = 0 }, divisor) {
      const means = new Map(
        [...gradients].map(([input, sum]) => [input, sum.map((value) => value / divisor)]),
      );
      const squares = [...means.values()].flatMap((mean) => mean.reduce((sum, value) => sum + value ** 2, 0));
      const norm = Math.sqrt(squares.reduce((sum, value) => sum + value, 0));
      const scale = gradientClip > 0 ? Math.min(1, gradientClip / norm) : 1;
      steps++;
      for (const input of means.keys()) rows.set(input, rows.get(input) ?? freshRow(input, vocabulary));
      for (const [input, { weights, first, second }] of rows) {
        const mean = means.get(input);
        weights.forEach((weight, at) => {
          const value = scale * (mean?.[at] ?? 0);
          first[at] = beta1 * first[at]! + (1 - beta1) * value;
          second[at] = beta2 * second[at]! + (1 - beta2) * value ** 2;
          const direction = first[at]! / (1 - beta1 ** steps);
          const size = Math.sqrt(second[at]! / (1 - beta2 ** steps)) + epsilon;
          weights[at] = weight * (1 - learningRate * weightDecay) - (learningRate * direction) / size;
        });
      }
      gradients = new Map();
      return norm;
    },
    state: () => ({ rows: copied(rows), steps }),
  };
}

/** Returns a state with the same weights, and a fresh optimizer. */
export function withoutMoments({ rows }: TinyState): TinyState {
  const fresh = copied(rows);
  for (const { first, second } of fresh.values()) for (const moments of [first, second]) moments.fill(0);
  return { rows: fresh, steps: 0 };
}

/** Returns the largest difference between the weights of two states that have the same rows. */
export function weightDifference(one: TinyState, other: TinyState): number {
  const gaps = [...one.rows].flatMap(([input, { weights }]) => {
    const others = other.rows.get(input)?.weights;
    return weights.reduce((most, weight, at) => {
      return Math.max(most, Math.abs(weight - (others?.[at] ?? Number.POSITIVE_INFINITY)));
    }, 0);
  });
  return one.rows.size === other.rows.size ? Math.max(...gaps) : Number.POSITIVE_INFINITY;
}

function copied(rows: ReadonlyMap<number, TinyRow>): Map<number, TinyRow> {
  return new Map(
    [...rows].map(([input, { weights, first, second }]) => [
      input,
      { weights: weights.slice(), first: first.slice(), second: second.slice() },
    ]),
  );
}

function freshRow(input: number, vocabulary: number): TinyRow {
  return {
    weights: Float64Array.from(
      { length: vocabulary },
      (_, at) => Math.sin(3.7 * (input * vocabulary + at)) / 2,
    ),
    first: new Float64Array(vocabulary),
    second: new Float64Array(vocabulary),
  };
}
