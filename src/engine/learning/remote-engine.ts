import { EverturnError } from "../../base/errors/everturn-error.ts";
import { createUsage } from "../onnx/usage.ts";
import type { TokenSequence } from "./batch.ts";
import type { TrainingEngine } from "./engine.ts";
import { type OpenObjective, openObjective } from "./loss-gradients.ts";
import { actionCount, joined, type Objective } from "./objective.ts";

/** A sequence of an update, with one number per action token in each array. */
export interface SequenceGradients {
  sequence: TokenSequence;
  /** The current policy's, as the model returned them. */
  logProbabilities: Float32Array;
  /** Of the loss with respect to the log-probabilities. */
  gradients: Float32Array;
}

/** A model elsewhere, such as on a training server, that is trained with gradients of log-probabilities. */
export interface RemoteModel {
  /**
   * Returns the log-probabilities of each sequence's action tokens at temperature 1, in nats. Calls `onShare` with the
   * share done so far.
   */
  score(
    sequences: readonly TokenSequence[],
    weights: "policy" | "reference",
    onShare?: (share: number) => void,
  ): Promise<Float32Array[]>;
  /**
   * Makes one optimizer update from the gradient of the sum of all sequences' losses. Returns the norm of the weights'
   * gradient before clipping, unless the model does not report it.
   */
  update(
    sequences: readonly SequenceGradients[],
    learningRate: number,
    onShare?: (share: number) => void,
  ): Promise<{ gradientNorm?: number }>;
}

/** An engine whose objectives can be released. */
export interface RemoteEngine extends TrainingEngine {
  /** Waits for the current call, and releases the objectives' models. The remote model stays open. */
  close(): Promise<void>;
}

/**
 * Creates an engine that computes losses here and everything else in a remote model. Counts its updates in `state`. If
 * the model does not report the norm of its gradient, the engine reports that of the gradient with respect to
 * log-probabilities.
 *
 * Throws TRAINING_REMOTE_LACKS for an objective that log-probabilities don't determine, and for a temperature other
 * than 1.
 */
export function createRemoteEngine(model: RemoteModel, state: { updates: number }): RemoteEngine {
  const usage = createUsage(() => new EverturnError("TRAINER_CLOSED", {}));
  const opened = new Map<Objective, Promise<OpenObjective>>();
  const open = (objective: Objective) => {
    const found = opened.get(objective) ?? openObjective(objective);
    opened.set(objective, found);
    return found;
  };

  const update: TrainingEngine["update"] = async (request) => {
    const { objective, samples, scalars, learningRate, temperature, onShare } = request;
    checkWants(objective);
    checkTemperature(temperature);
    const sequences = samples.flatMap((sample) => sample.sequences);
    const scores = await model.score(sequences, "policy");
    const logProbabilities = joined(scores);
    const { loss, terms, gradients } = await (await open(objective)).run(samples, scalars, logProbabilities);
    checkFinite(state, loss, gradients);
    let end = 0;
    const parts = sequences.map((sequence, index): SequenceGradients => {
      const start = end;
      end += actionCount(sequence);
      return { sequence, logProbabilities: scores[index]!, gradients: gradients.slice(start, end) };
    });
    const { gradientNorm = normOf(gradients) } = await model.update(parts, learningRate, onShare);
    state.updates++;
    return { loss, terms, logProbabilities, skipped: false, gradientNorm };
  };

  return {
    async check(objective) {
      checkWants(objective);
    },
    score: (sequences, weights, temperature, onShare) =>
      usage.during(async () => {
        checkTemperature(temperature);
        const scores = await model.score(sequences, weights, onShare);
        return scores.map((logProbabilities) => ({ logProbabilities, values: new Float32Array() }));
      }),
    update: (request) => usage.during(() => update(request)),
    close: () =>
      usage.end(async () => {
        for (const one of await Promise.allSettled(opened.values()))
          if (one.status === "fulfilled") await one.value.close();
      }),
  };
}

/** Throws TRAINING_REMOTE_LACKS if an objective wants more of a model than log-probabilities. */
function checkWants({ wants }: Objective): void {
  const lacking = wants.values ? "values" : "entropies";
  if (wants.values || wants.entropies)
    throw lacks(`${lacking} of the model, which the server does not return`);
}

function checkTemperature(temperature = 1): void {
  if (temperature === 1) return;
  throw lacks(
    `log-probabilities at temperature ${temperature}, but the server returns those at temperature 1`,
  );
}

function lacks(needed: string): EverturnError {
  return new EverturnError("TRAINING_REMOTE_LACKS", { needed });
}

function checkFinite(state: { updates: number }, loss: number, gradients: Float32Array): void {
  const strange = [loss, ...gradients].find((value) => !Number.isFinite(value));
  if (strange === undefined) return;
  const quantity = Number.isFinite(loss) ? "the gradient of a log-probability" : "the loss";
  throw new EverturnError("TRAINING_NOT_FINITE", { step: state.updates + 1, quantity, value: strange });
}

function normOf(numbers: Float32Array): number {
  return Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0));
}
