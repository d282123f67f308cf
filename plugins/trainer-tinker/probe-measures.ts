import { EverturnError } from "everturn/engine";
import { scoringDatum } from "./exact-data.ts";
import { type ClippedTrial, clippedLimits, opposite, product, type Trial } from "./probe-trials.ts";
import type { ServerProfile } from "./profiles.ts";
import { addClippedLoss, addGradients, normOf } from "./remote-model.ts";
import type { OptimizerNumbers, ServerModel } from "./server-model.ts";

/** The profile to confirm, and a fresh model that is used for nothing else. */
export interface Probe {
  profile: ServerProfile;
  model: ServerModel;
}

/** How the gradients of a server are measured. */
export interface Measures {
  /** Returns the norm of a trial's gradient. `expected` is the result if all is well, as far as it is known. */
  norm(trial: Trial, expected?: number): Promise<number>;
  /**
   * Returns how far the gradient of the clipped loss is from the one that it should be, whose norm is given. Infinity if
   * the pass returns no log-probabilities.
   */
  distance(trial: ClippedTrial, norm: number): Promise<number>;
  /** The largest deviation, relative to the largest norm. */
  tolerance: number;
}

const tolerances = { norm: 1e-3, movement: 0.15 };

/** In nats. */
export const usualMovement = 0.2;

/** Far above any gradient, so that Adam's step is proportional to the gradient: learning rate / epsilon times it. */
const largeEpsilon = 1000;

/** Measures norms in steps that change nothing. */
export function measuresByNorm(probe: Probe): Measures {
  const { profile, model } = probe;
  const normAdded = async (name: string) => {
    const { gradientNorm } = normOf(await model.optimStep(proportional(0)), profile);
    if (gradientNorm !== undefined) return gradientNorm;
    throw mismatch(profile, `the metric ${profile.gradientNorm} for ${name}`, Number.NaN, Number.NaN);
  };
  return {
    async norm({ calls, name }) {
      await addGradients(profile, model, calls);
      return normAdded(name);
    },
    async distance({ calls, same }) {
      if (!(await addClipped(probe, calls))) return Number.POSITIVE_INFINITY;
      await addGradients(profile, model, opposite(same).calls);
      return normAdded(same.name);
    },
    tolerance: tolerances.norm,
  };
}

/**
 * Measures norms by the movement of log-probabilities: −g Δl is about the rate times the squared norm. First finds the
 * rate at which a trial moves them by about `usualMovement`: far enough to see in half precision, and not so far that
 * the movement stops being proportional. Other trials get the rate at which they should move them as far.
 */
export async function measuresByMovement(probe: Probe, trial: Trial): Promise<Measures> {
  const linear = (other: Trial) => () => addGradients(probe.profile, probe.model, other.calls);
  let rate = 1e-3;
  let movement = await movementOf(probe, trial, rate, linear(trial));
  const isUsual = () => movement > usualMovement / 2 && movement < usualMovement * 2;
  for (let tries = 0; tries < 6 && !isUsual() && movement > -usualMovement / 2; tries++) {
    rate *= Math.min(100, Math.max(0.01, usualMovement / Math.abs(movement)));
    movement = await movementOf(probe, trial, rate, linear(trial));
  }
  if (!isUsual()) throw mismatch(probe.profile, `the movement along ${trial.name}`, movement, usualMovement);
  const usual = Math.sqrt(movement / rate);
  const normOfAdded = async (other: Trial, expected: number, add: () => Promise<unknown>) => {
    const own = rate * Math.min(4, (usual / expected) ** 2);
    return Math.sqrt((await movementOf(probe, other, own, add)) / own);
  };
  return {
    norm: (other, expected = usual) => normOfAdded(other, expected, linear(other)),
    async distance({ calls, same }, norm) {
      let isScored = false;
      const measured = await normOfAdded(same, norm, async () => {
        isScored = await addClipped(probe, calls);
      });
      return isScored ? Math.abs(measured - norm) : Number.POSITIVE_INFINITY;
    },
    tolerance: tolerances.movement,
  };
}

/** Returns how far a step moves the log-probabilities against the trial's gradient. `add` adds the gradient. */
export async function stepAlong(
  { model }: Probe,
  trial: Trial,
  numbers: OptimizerNumbers,
  add: () => Promise<unknown>,
): Promise<number> {
  const sequences = trial.calls.flat();
  const score = async () => {
    const data = sequences.map(({ inputs, targets }) => scoringDatum(inputs, targets));
    const scores = await model.forward(data);
    return product(trial, (sequence) => scores[sequences.indexOf(sequence)]!);
  };
  const before = await score();
  await add();
  await model.optimStep(numbers);
  return before - (await score());
}

/** The same, and undoes the step. */
async function movementOf(
  probe: Probe,
  trial: Trial,
  rate: number,
  add: () => Promise<unknown>,
): Promise<number> {
  const movement = await stepAlong(probe, trial, proportional(rate), add);
  await addGradients(probe.profile, probe.model, opposite(trial).calls);
  await probe.model.optimStep(proportional(rate));
  return movement;
}

/** Adds the gradient of the clipped loss. Returns whether the server returned the log-probability of each target. */
async function addClipped({ profile, model }: Probe, calls: ClippedTrial["calls"]): Promise<boolean> {
  const { clippedLoss: loss = "", crossEntropy: reduction } = profile;
  const scores = await addClippedLoss({ loss, reduction, limits: clippedLimits }, model, calls);
  return calls.flat().every(({ targets }, index) => scores[index]?.length === targets.length);
}

/** A step of Adam that is the rate times the gradient, independent of earlier steps. */
export function proportional(rate: number): OptimizerNumbers {
  return {
    learningRate: rate * largeEpsilon,
    beta1: 0,
    beta2: 0,
    epsilon: largeEpsilon,
    weightDecay: 0,
  };
}

/** Returns the error of a server that measures otherwise than its profile says. */
export function mismatch(
  { title }: ServerProfile,
  quantity: string,
  measured: number,
  expected: number,
): EverturnError {
  const digits = (value: number) => (Number.isFinite(value) ? value.toPrecision(4) : "not a number");
  return new EverturnError("TINKER_PROFILE_MISMATCH", {
    server: title,
    quantity,
    measured: digits(measured),
    expected: digits(expected),
  });
}
