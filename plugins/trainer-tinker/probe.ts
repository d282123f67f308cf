import { EverturnError } from "everturn/engine";
import { scoringDatum } from "./exact-data.ts";
import { expectedNorms, probeSequences, probeTrials, product, type Trial } from "./probe-trials.ts";
import type { ServerProfile } from "./profiles.ts";
import { addGradients, normOf } from "./remote-model.ts";
import type { OptimizerNumbers, ServerModel } from "./server-model.ts";

/** The profile to confirm, and a fresh model that is used for nothing else. */
interface Probe {
  profile: ServerProfile;
  model: ServerModel;
}

/** The largest deviation of a measurement, relative to the largest norm. */
const tolerances = { norm: 1e-3, movement: 0.15, surrogate: 0.02, step: 0.25 };

/** In nats. */
const usualMovement = 0.2;

/** Far above any gradient, so that Adam's step is proportional to the gradient: learning rate / epsilon times it. */
const largeEpsilon = 1000;

/**
 * Confirms a server's profile with a few tiny updates of a model made for it. A gradient with respect to
 * log-probabilities acts linearly on the weights: twice the gradient has twice the norm, and the norm does not depend
 * on its sign, on the number of calls, or on further tokens and sequences. The norms of u, v, u + v and u − v satisfy
 * the parallelogram law. Any division by weights, tokens, sequences or calls violates one of these.
 *
 * Adam hides the scale of a gradient, so usual steps would prove nothing. Norms are read where the server returns them,
 * at learning rate 0. Elsewhere they follow from the movement of log-probabilities in steps with a large epsilon. A
 * server that is sent the gradient itself returns its product with the log-probabilities, which is compared instead.
 *
 * Throws TINKER_PROFILE_MISMATCH with the measured and the expected number.
 */
export async function probeServer(probe: Probe, vocabulary: number): Promise<void> {
  const { profile, model } = probe;
  const sequences = probeSequences(vocabulary);
  const scores = await model.forward(
    sequences.map((tokens) => scoringDatum(tokens.slice(0, -1), tokens.slice(1))),
  );
  const trials = probeTrials(sequences, scores);
  if (profile.way === "custom-steps") {
    for (const trial of Object.values(trials)) await checkSurrogate(probe, trial);
    return;
  }
  const { measure, tolerance } =
    profile.gradientNorm === undefined
      ? { measure: await movementMeasure(probe, trials.both), tolerance: tolerances.movement }
      : { measure: normMeasure(probe), tolerance: tolerances.norm };
  const both = await measure(trials.both);
  const [first, second] = [await measure(trials.first), await measure(trials.second)];
  const expected = expectedNorms(both, first, second);
  for (const key of ["difference", "negative", "double", "halves", "beside", "longer"] as const) {
    const measured = await measure(trials[key], expected[key]);
    const isRight = Math.abs(measured - expected[key]) <= tolerance * Math.max(both, first, second);
    if (!isRight) throw mismatch(profile, `the norm of ${trials[key].name}`, measured, expected[key]);
  }
  const isStepKnown = profile.gradientNorm !== undefined && profile.limits.rateOnly !== true;
  if (isStepKnown) await checkStep(probe, trials.both, both);
}

/** Measures the norm of a trial's gradient. `expected` is the result if all is well, as far as it is known. */
type Measure = (trial: Trial, expected?: number) => Promise<number>;

/** Measures norms in steps that change nothing. */
function normMeasure({ profile, model }: Probe): Measure {
  return async ({ calls, name }) => {
    await addGradients(profile, model, calls);
    const { gradientNorm } = normOf(await model.optimStep(proportional(0)), profile);
    if (gradientNorm !== undefined) return gradientNorm;
    throw mismatch(profile, `the metric ${profile.gradientNorm} for ${name}`, Number.NaN, Number.NaN);
  };
}

/**
 * Measures norms by the movement of log-probabilities: −g Δl is about the rate times the squared norm. First finds the
 * rate at which a trial moves them by about `usualMovement`: far enough to see in half precision, and not so far that
 * the movement stops being proportional. Other trials get the rate at which they should move them as far.
 */
async function movementMeasure(probe: Probe, trial: Trial): Promise<Measure> {
  let rate = 1e-3;
  let movement = await movementOf(probe, trial, rate);
  const isUsual = () => movement > usualMovement / 2 && movement < usualMovement * 2;
  for (let tries = 0; tries < 6 && !isUsual() && movement > -usualMovement / 2; tries++) {
    rate *= Math.min(100, Math.max(0.01, usualMovement / Math.abs(movement)));
    movement = await movementOf(probe, trial, rate);
  }
  if (!isUsual()) throw mismatch(probe.profile, `the movement along ${trial.name}`, movement, usualMovement);
  const norm = Math.sqrt(movement / rate);
  return async (other, expected = norm) => {
    const own = rate * Math.min(4, (norm / expected) ** 2);
    return Math.sqrt((await movementOf(probe, other, own)) / own);
  };
}

/** Returns how far a step moves the log-probabilities against the gradient, and undoes the step. */
async function movementOf(probe: Probe, trial: Trial, rate: number): Promise<number> {
  const movement = await stepAlong(probe, trial, rate);
  const back = trial.calls.map((call) =>
    call.map((one) => ({ ...one, gradients: one.gradients.map((value) => -value) })),
  );
  await addGradients(probe.profile, probe.model, back);
  await probe.model.optimStep(proportional(rate));
  return movement;
}

async function stepAlong({ profile, model }: Probe, trial: Trial, rate: number): Promise<number> {
  const sequences = trial.calls.flat();
  const score = async () => {
    const data = sequences.map(({ inputs, targets }) => scoringDatum(inputs, targets));
    const scores = await model.forward(data);
    return product(trial, (sequence) => scores[sequences.indexOf(sequence)]!);
  };
  const before = await score();
  await addGradients(profile, model, trial.calls);
  await model.optimStep(proportional(rate));
  return before - (await score());
}

/** Compares a real step with the norm: it confirms the sign and the scale of the gradient. */
async function checkStep(probe: Probe, trial: Trial, norm: number): Promise<void> {
  const movement = await stepAlong(probe, trial, usualMovement / norm ** 2);
  if (Math.abs(movement - usualMovement) <= tolerances.step * usualMovement) return;
  throw mismatch(probe.profile, `the movement along ${trial.name}`, movement, usualMovement);
}

/** Compares the product of gradient and log-probabilities, which the server computes from what it received. */
async function checkSurrogate({ profile, model }: Probe, trial: Trial): Promise<void> {
  const all = await addGradients(profile, model, trial.calls);
  const measured = all.reduce((sum, { surrogate = Number.NaN }) => sum + surrogate, 0);
  const expected = product(trial, ({ logProbabilities }) => logProbabilities);
  const size = product(trial, (sequence) =>
    sequence.logProbabilities.map((value, at) => Math.abs(value) * Math.sign(sequence.gradients[at]!)),
  );
  if (Math.abs(measured - expected) <= tolerances.surrogate * size) return;
  throw mismatch(profile, `the surrogate loss of ${trial.name}`, measured, expected);
}

/** A step of Adam that is the rate times the gradient, independent of earlier steps. */
function proportional(rate: number): OptimizerNumbers {
  return {
    learningRate: rate * largeEpsilon,
    beta1: 0,
    beta2: 0,
    epsilon: largeEpsilon,
    weightDecay: 0,
  };
}

function mismatch({ title }: ServerProfile, quantity: string, measured: number, expected: number) {
  const digits = (value: number) => (Number.isFinite(value) ? value.toPrecision(4) : "not a number");
  return new EverturnError("TINKER_PROFILE_MISMATCH", {
    server: title,
    quantity,
    measured: digits(measured),
    expected: digits(expected),
  });
}
