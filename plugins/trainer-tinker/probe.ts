import { EverturnError } from "everturn/engine";
import { scoringDatum } from "./exact-data.ts";
import {
  type Measures,
  measuresByMovement,
  measuresByNorm,
  mismatch,
  type Probe,
  proportional,
  stepAlong,
  usualMovement,
} from "./probe-measures.ts";
import {
  type ClippedTrial,
  clippedTrials,
  expectedNorms,
  probeSequences,
  probeTrials,
  product,
  type Trial,
} from "./probe-trials.ts";
import type { ServerProfile } from "./profiles.ts";
import { addGradients } from "./remote-model.ts";
import type { OptimizerNumbers } from "./server-model.ts";

/** The largest deviations, relative to what is expected. */
const tolerances = { surrogate: 0.02, step: 0.25 };

/**
 * Confirms a server's profile with a few tiny updates of a model made for it. A gradient with respect to
 * log-probabilities acts linearly on the weights: twice the gradient has twice the norm, and the norm does not depend
 * on its sign, on the number of calls, or on further tokens and sequences. The norms of u, v, u + v and u − v satisfy
 * the parallelogram law. Any division by weights, tokens, sequences or calls violates one of these.
 *
 * Adam hides the scale of a gradient, so usual steps would prove nothing. Norms are read where the server returns them,
 * at learning rate 0. Elsewhere they follow from the movement of log-probabilities in steps with a large epsilon. A
 * server that is sent the gradient itself returns its product with the log-probabilities, which is compared instead. A
 * step must then move the log-probabilities against the gradient.
 *
 * The model that is created next, after this one is released, begins without gradients on every server.
 *
 * Returns the profile, without its clipped loss if that has another gradient than it should. Everturn then sends the
 * gradient. Throws TINKER_PROFILE_MISMATCH with the measured and the expected number, and TINKER_VOCABULARY_UNFIT.
 */
export async function probeServer(probe: Probe, vocabulary: number): Promise<ServerProfile> {
  const { profile, model } = probe;
  if (profile.leavesGradients) await model.optimStep(proportional(0));
  const sequences = probeSequences(vocabulary);
  const score = () => {
    return model.forward(sequences.map((tokens) => scoringDatum(tokens.slice(0, -1), tokens.slice(1))));
  };
  const scores = await score();
  checkVocabulary(profile, scores.at(-1)!, vocabulary);
  const trials = probeTrials(sequences, scores);
  if (profile.way === "custom-steps") {
    for (const trial of Object.values(trials)) await checkSurrogate(probe, trial);
    await checkDescent(probe, trials.both);
    return profile;
  }
  const hasNorms = profile.gradientNorm !== undefined;
  const measures = hasNorms ? measuresByNorm(probe) : await measuresByMovement(probe, trials.both);
  const both = await measures.norm(trials.both);
  const [first, second] = [await measures.norm(trials.first), await measures.norm(trials.second)];
  const expected = expectedNorms(both, first, second);
  for (const key of ["difference", "negative", "double", "halves", "beside", "longer"] as const) {
    const measured = await measures.norm(trials[key], expected[key]);
    const isRight = Math.abs(measured - expected[key]) <= measures.tolerance * Math.max(both, first, second);
    if (!isRight) throw mismatch(profile, `the norm of ${trials[key].name}`, measured, expected[key]);
  }
  const isStepKnown = hasNorms && profile.limits.rateOnly !== true;
  if (isStepKnown) await checkStep(probe, trials.both, both);
  const { clippedLoss, ...others } = profile;
  if (clippedLoss === undefined) return profile;
  const moved = await score();
  return (await isClipped(measures, clippedTrials(sequences, moved))) ? profile : others;
}

/** SkyRL on JAX returns NaN for a token that its model does not have. `scores` are those of the third sequence. */
function checkVocabulary({ title }: ServerProfile, scores: Float32Array, vocabulary: number): void {
  if (Number.isFinite(scores.at(-1))) return;
  throw new EverturnError("TINKER_VOCABULARY_UNFIT", { server: title, token: vocabulary - 1, vocabulary });
}

/** Whether each clipped loss has the gradient that it should have. */
async function isClipped(measures: Measures, trials: readonly ClippedTrial[]): Promise<boolean> {
  for (const trial of trials) {
    const norm = await measures.norm(trial.same);
    const distance = await measures.distance(trial, norm);
    if (!(distance <= measures.tolerance * norm)) return false;
  }
  return true;
}

/** Compares a real step with the norm: it confirms the sign and the scale of the gradient. */
async function checkStep(probe: Probe, trial: Trial, norm: number): Promise<void> {
  const add = () => addGradients(probe.profile, probe.model, trial.calls);
  const movement = await stepAlong(probe, trial, proportional(usualMovement / norm ** 2), add);
  if (Math.abs(movement - usualMovement) <= tolerances.step * usualMovement) return;
  throw mismatch(probe.profile, `the movement along ${trial.name}`, movement, usualMovement);
}

/**
 * Makes usual steps of Adam, whose size hides the gradient's scale but not its sign. The first step that moves the
 * log-probabilities far enough to see in half precision decides.
 */
async function checkDescent(probe: Probe, trial: Trial): Promise<void> {
  const add = () => addGradients(probe.profile, probe.model, trial.calls);
  await probe.model.optimStep(usual(1e-30)); // discards the gradients so far
  let movement = 0;
  for (const rate of [1e-3, 1e-2, 1e-1]) {
    movement = await stepAlong(probe, trial, usual(rate), add);
    if (Math.abs(movement) > usualMovement / 4) break;
  }
  if (movement > usualMovement / 4) return;
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

/** A step of Adam, independent of earlier steps. */
function usual(learningRate: number): OptimizerNumbers {
  return { ...proportional(0), learningRate, epsilon: 1e-8 };
}
