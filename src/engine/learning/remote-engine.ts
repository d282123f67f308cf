import { EverturnError } from "../../base/errors/everturn-error.ts";
import { createUsage } from "../onnx/usage.ts";
import type { TokenSequence } from "./batch.ts";
import type { TrainingEngine } from "./engine.ts";
import { type OpenObjective, openObjective } from "./loss-gradients.ts";
import { actionCount, joined, type Objective, type TrainingSample } from "./objective.ts";

/** A sequence of an update, with one number per action token in each array. */
export interface SequenceGradients {
  sequence: TokenSequence;
  /** The current policy's, as the model returned them. */
  logProbabilities: Float32Array;
  /** Of the loss with respect to the log-probabilities. */
  gradients: Float32Array;
}

/** A sequence of an update by the clipped loss, with one number per action token in each array. */
export interface ClippedSequence {
  sequence: TokenSequence;
  oldLogProbabilities: Float32Array;
  /** With the weights of the tokens in the loss. */
  advantages: Float32Array;
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
  /** Adds the gradient of the sum of all sequences' losses for the next step. Called once for each step. */
  add(sequences: readonly SequenceGradients[], onShare?: (share: number) => void): Promise<void>;
  /**
   * The same for the loss of `Objective.clipped`, which the model computes itself in one pass. Returns the current
   * log-probabilities of each sequence's action tokens. Absent if the model does not compute it exactly.
   */
  readonly addClipped?: (
    sequences: readonly ClippedSequence[],
    limits: NonNullable<Objective["clipped"]>,
    onShare?: (share: number) => void,
  ) => Promise<Float32Array[]>;
  /**
   * Makes one optimizer update from the gradient added. Returns the norm of the weights' gradient before clipping,
   * unless the model does not report it.
   */
  step(learningRate: number): Promise<{ gradientNorm?: number }>;
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
    const isOwn = objective.clipped !== undefined && model.addClipped !== undefined;
    const scores = isOwn
      ? await model.addClipped(clippedSequences(samples), objective.clipped, onShare)
      : await model.score(sequences, "policy");
    const logProbabilities = joined(scores);
    const { loss, terms, gradients } = await (await open(objective)).run(samples, scalars, logProbabilities);
    checkFinite(state, loss, gradients);
    if (!isOwn) {
      const parts = inSequences(sequences, [gradients]).map(([gradient], index): SequenceGradients => {
        return { sequence: sequences[index]!, logProbabilities: scores[index]!, gradients: gradient! };
      });
      await model.add(parts, onShare);
    }
    const { gradientNorm = normOf(gradients) } = await model.step(learningRate);
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

/** Returns the sequences of an update by the clipped loss. */
function clippedSequences(samples: readonly TrainingSample[]): ClippedSequence[] {
  return samples.flatMap(({ sequences, columns }) => {
    const weights = columns.policyWeights!;
    const advantages = columns.advantages!.map((advantage, at) => advantage * weights[at]!);
    return inSequences(sequences, [columns.oldLogProbabilities!, advantages]).map(
      ([oldLogProbabilities, own], index) => ({
        sequence: sequences[index]!,
        oldLogProbabilities: oldLogProbabilities!,
        advantages: own!,
      }),
    );
  });
}

/** Splits columns, which have one number per action token, into those of each sequence. */
function inSequences(
  sequences: readonly TokenSequence[],
  columns: readonly Float32Array[],
): Float32Array[][] {
  let end = 0;
  return sequences.map((sequence) => {
    const start = end;
    end += actionCount(sequence);
    return columns.map((column) => column.slice(start, end));
  });
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
