import { type FloatValue, graphError } from "../onnx/graph.ts";
import type { Tensor } from "../onnx/session.ts";
import type { TokenSequence } from "./batch.ts";

/**
 * What an input of an objective holds: a number an action token, one number, or which sample each action token belongs
 * to (1 where it does, 0 elsewhere).
 */
export type ObjectiveInput = "token" | "scalar" | "membership";

/** The dimensions of each kind of input, as the training graph names them. */
export const objectiveInputShapes: Readonly<Record<ObjectiveInput, readonly string[]>> = {
  token: ["actions"],
  scalar: [],
  membership: ["samples", "actions"],
};

/** What the policy says now of each action token, all [actions]. What an objective doesn't want is not there. */
export interface PolicyOutputs {
  /** Absent of a critic. */
  readonly logProbabilities?: FloatValue;
  /** Of the whole distribution, in nats. */
  readonly entropies?: FloatValue;
  readonly values?: FloatValue;
}

/** What is minimized, and what is measured on the way. All are scalars that add up over parts of a minibatch. */
export interface ObjectiveTerms {
  readonly loss: FloatValue;
  readonly terms: Readonly<Record<string, FloatValue>>;
}

/**
 * A loss over the action tokens of a minibatch. Everything it computes is a sum over samples, weighted by its inputs, so
 * that a minibatch may be split into passes whose losses, terms and gradients are added up.
 */
export interface Objective {
  readonly inputs: Readonly<Record<string, ObjectiveInput>>;
  readonly wants: { readonly values: boolean; readonly entropies: boolean };
  /** Writes the objective into the graph of `now`; `then` gives its inputs by name. */
  build(now: PolicyOutputs, then: (name: string) => FloatValue): ObjectiveTerms;
}

/** What is never split over passes: one sequence, or several that an objective compares. */
export interface TrainingSample {
  readonly sequences: readonly TokenSequence[];
  /** The objective's token inputs by name: a number an action token of the sequences, in order. */
  readonly columns: Readonly<Record<string, Float32Array>>;
}

/** The inputs of an objective for some samples of a minibatch, by name. */
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

/** How many action tokens a sequence has. */
export function actionCount({ mask }: TokenSequence): number {
  return mask.reduce((count, marked) => count + (marked === 1 ? 1 : 0), 0);
}

/** Arrays one after the other. */
export function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((total, part) => total + part.length, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.length;
  }
  return whole;
}

/** An output that an objective wants. Throws where a graph lacks it. */
export function wanted(value: FloatValue | undefined, name: string): FloatValue {
  if (value === undefined) throw graphError(`the objective wants ${name}, which the training graph lacks`);
  return value;
}
