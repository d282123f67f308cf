import { type FloatValue, graphError } from "../onnx/graph.ts";
import type { Tensor } from "../onnx/model-session.ts";
import type { TokenSequence } from "./batch.ts";

/**
 * The contents of an objective's input: one number per action token, one number, or the membership of action tokens in
 * samples (1 if the token belongs to the sample, otherwise 0).
 */
export type ObjectiveInput = "token" | "scalar" | "membership";

/** The dimensions of each kind of input, by their names in the training graph. */
export const objectiveInputShapes: Readonly<Record<ObjectiveInput, readonly string[]>> = {
  token: ["actions"],
  scalar: [],
  membership: ["samples", "actions"],
};

/**
 * The policy's current outputs for each action token, all [actions]. Only those that an objective needs are present.
 */
export interface PolicyOutputs {
  /** Absent for a critic. */
  readonly logProbabilities?: FloatValue;
  /** Of the whole distribution, in nats. */
  readonly entropies?: FloatValue;
  readonly values?: FloatValue;
}

/** The minimized loss and the measured terms. All are scalars that add up over the parts of a minibatch. */
export interface ObjectiveTerms {
  readonly loss: FloatValue;
  readonly terms: Readonly<Record<string, FloatValue>>;
}

/**
 * A loss over the action tokens of a minibatch. All of its results are sums over samples, weighted by its inputs. So a
 * minibatch may be split into passes whose losses, terms and gradients are added up.
 */
export interface Objective {
  readonly inputs: Readonly<Record<string, ObjectiveInput>>;
  readonly wants: { readonly values: boolean; readonly entropies: boolean };
  /**
   * The limits of the ratio, if the loss is nothing but Σ −min(r A, clip(r, low, high) A) over action tokens, with r from
   * `oldLogProbabilities` and A = `advantages` × `policyWeights`. A server may have this loss itself. Absent otherwise.
   */
  readonly clipped?: { readonly low: number; readonly high: number };
  /** Builds the objective in the graph of `now`. `then` returns its inputs by name. */
  build(now: PolicyOutputs, then: (name: string) => FloatValue): ObjectiveTerms;
}

/** The unit that is never split over passes: one sequence, or several that an objective compares. */
export interface TrainingSample {
  readonly sequences: readonly TokenSequence[];
  /** The objective's token inputs by name. Each has one number per action token of the sequences, in order. */
  readonly columns: Readonly<Record<string, Float32Array>>;
}

/** Returns the inputs of an objective for some samples of a minibatch, by name. */
export function objectiveFeeds(
  objective: Objective,
  samples: readonly TrainingSample[],
  scalars: Readonly<Record<string, number>>,
): Record<string, Tensor> {
  const counts = samples.map(({ sequences }) => sequences.reduce((sum, one) => sum + actionCount(one), 0));
  const feed = (name: string, kind: ObjectiveInput): Tensor => {
    if (kind === "scalar") return { shape: [], data: Float32Array.of(scalars[name]!) };
    if (kind === "membership") return membership(counts);
    const data = joined(samples.map(({ columns }) => columns[name]!));
    return { shape: [data.length], data };
  };
  return Object.fromEntries(Object.entries(objective.inputs).map(([name, kind]) => [name, feed(name, kind)]));
}

function membership(counts: readonly number[]): Tensor {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const data = new Float32Array(counts.length * total);
  let start = 0;
  counts.forEach((count, sample) => {
    data.fill(1, sample * total + start, sample * total + start + count);
    start += count;
  });
  return { shape: [counts.length, total], data };
}

/** Returns the number of action tokens in a sequence. */
export function actionCount({ mask }: TokenSequence): number {
  return mask.reduce((count, marked) => count + (marked === 1 ? 1 : 0), 0);
}

/** Concatenates arrays. */
export function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((total, part) => total + part.length, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  return whole;
}

/** Returns an output that an objective needs. Throws if the graph lacks it. */
export function wanted(value: FloatValue | undefined, name: string): FloatValue {
  if (value === undefined) throw graphError(`the objective wants ${name}, which the training graph lacks`);
  return value;
}
