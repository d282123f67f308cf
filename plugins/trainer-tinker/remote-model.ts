import type { ClippedSequence, RemoteModel, SequenceGradients, TokenSequence } from "everturn/engine";
import {
  type ClippedTokens,
  clippedCalls,
  exactCalls,
  type PredictedTokens,
  type ServerDatum,
  scoringDatum,
} from "./exact-data.ts";
import type { Reduction, ServerProfile } from "./profiles.ts";
import type { OptimizerNumbers, ServerMetrics, ServerModel } from "./server-model.ts";

/** A model on a server, and how it is trained. */
export interface RemoteModelOptions {
  profile: ServerProfile;
  /** Returns the model to train. */
  model: () => Promise<ServerModel>;
  /** Returns the model that the KL term and preferences refer to. Called at its first use. */
  reference: () => Promise<ServerModel>;
  optimizer: Omit<OptimizerNumbers, "learningRate">;
  /** The most tokens of one call. A longer sequence has a call of its own. */
  callTokens: number;
}

/** Returns the model as an engine trains it. */
export function remoteModel(options: RemoteModelOptions): RemoteModel {
  const { profile, model, reference, callTokens } = options;
  const { clippedLoss: loss, crossEntropy: reduction } = profile;
  return {
    async score(sequences, weights, onShare) {
      const scorer = await (weights === "policy" ? model() : reference());
      const data = sequences.map((sequence) => {
        const { inputs, targets } = predicted(sequence);
        return scoringDatum(inputs, targets);
      });
      const scores: Float32Array[] = [];
      for (const part of inCalls(data, callTokens)) {
        scores.push(...(await scorer.forward(part)));
        onShare?.(scores.length / data.length);
      }
      return scores.map((logProbabilities, index) => ofActions(sequences[index]!, logProbabilities));
    },
    async add(sequences, onShare) {
      await addGradients(
        profile,
        await model(),
        inCalls(sequences.map(predictedTokens), callTokens),
        onShare,
      );
    },
    ...(loss !== undefined && {
      addClipped: async (sequences, limits, onShare) => {
        const parts = inCalls(sequences.map(clippedTokens), callTokens);
        const scores = await addClippedLoss({ loss, reduction, limits }, await model(), parts, onShare);
        return scores.map((logProbabilities, index) =>
          ofActions(sequences[index]!.sequence, logProbabilities),
        );
      },
    }),
    async step(learningRate) {
      const trained = await model();
      const metrics = await trained.optimStep({
        ...options.optimizer,
        learningRate: acceptedRate(learningRate, profile),
      });
      return normOf(metrics, profile);
    },
  };
}

/** Adds the gradients of an update's sequences in the way that the server computes exactly. */
export async function addGradients(
  { way, title }: ServerProfile,
  model: ServerModel,
  parts: readonly (readonly PredictedTokens[])[],
  onShare?: (share: number) => void,
): Promise<ServerMetrics[]> {
  if (way === undefined) throw new Error(`${title} has no exact way`); // refused when the trainer opened
  const all: ServerMetrics[] = [];
  if (way === "custom-steps") {
    for (const part of parts) {
      const data = part.map(({ inputs, targets }) => scoringDatum(inputs, targets));
      all.push(
        await model.customBackward(
          data,
          part.map(({ gradients }) => gradients),
        ),
      );
      onShare?.(all.length / parts.length);
    }
    return all;
  }
  const { loss, calls } = exactCalls(way, parts);
  for (const data of calls) {
    all.push((await model.forwardBackward(data, loss)).metrics);
    onShare?.(all.length / calls.length);
  }
  return all;
}

/** A clipped loss that a server computes itself. */
export interface ClippedLoss {
  /** The server's name of it. */
  loss: string;
  reduction: Reduction;
  /** Of the ratio. */
  limits: { low: number; high: number };
}

/** Adds the gradient of the server's own clipped loss. Returns the log-probabilities of each sequence's targets. */
export async function addClippedLoss(
  { loss, reduction, limits }: ClippedLoss,
  model: ServerModel,
  parts: readonly (readonly ClippedTokens[])[],
  onShare?: (share: number) => void,
): Promise<Float32Array[]> {
  const calls = clippedCalls(reduction, parts);
  const config = { clip_low_threshold: limits.low, clip_high_threshold: limits.high };
  const all: Float32Array[] = [];
  for (const [index, data] of calls.entries()) {
    const { logprobs } = await model.forwardBackward(data, loss, config);
    all.push(...logprobs);
    onShare?.((index + 1) / calls.length);
  }
  return all;
}

/** Returns the norm of the gradient, if the server reports it. */
export function normOf(
  metrics: ServerMetrics,
  { gradientNorm: name }: ServerProfile,
): { gradientNorm?: number } {
  const gradientNorm = name === undefined ? undefined : metrics[name];
  return gradientNorm === undefined ? {} : { gradientNorm };
}

/** Returns a learning rate that the server accepts: in place of 0 one that changes nothing. */
function acceptedRate(learningRate: number, { limits }: ServerProfile): number {
  return learningRate === 0 && !limits.zeroRate ? 1e-30 : learningRate;
}

/** Splits items into calls, in order. */
function inCalls<Item extends Pick<ServerDatum, "inputs">>(
  items: readonly Item[],
  callTokens: number,
): Item[][] {
  const calls: Item[][] = [];
  let room = 0;
  for (const item of items) {
    room -= item.inputs.length;
    if (room < 0 || calls.length === 0) {
      calls.push([]);
      room = callTokens - item.inputs.length;
    }
    calls.at(-1)!.push(item);
  }
  return calls;
}

/** Returns the numbers of the action tokens among those of all targets. */
function ofActions({ mask }: TokenSequence, targets: Float32Array): Float32Array {
  return targets.filter((_, at) => mask[at + 1] === 1);
}

/** Returns a sequence's predicted tokens, with 0 for those that are not actions. */
function predictedTokens({ sequence, logProbabilities, gradients }: SequenceGradients): PredictedTokens {
  return {
    ...predicted(sequence),
    logProbabilities: spread(sequence, logProbabilities),
    gradients: spread(sequence, gradients),
  };
}

/** The same for the clipped loss. */
function clippedTokens({ sequence, oldLogProbabilities, advantages }: ClippedSequence): ClippedTokens {
  return {
    ...predicted(sequence),
    oldLogProbabilities: spread(sequence, oldLogProbabilities),
    advantages: spread(sequence, advantages),
  };
}

/** Returns the inputs and targets of a sequence, up to its last action token. */
function predicted({ tokens, mask }: TokenSequence): Pick<PredictedTokens, "inputs" | "targets"> {
  const length = mask.lastIndexOf(1) + 1;
  return { inputs: tokens.slice(0, length - 1), targets: tokens.slice(1, length) };
}

/** Spreads the numbers of a sequence's action tokens over all its targets. */
function spread({ mask }: TokenSequence, numbers: Float32Array): Float32Array {
  let next = 0;
  return Float32Array.from({ length: mask.lastIndexOf(1) }, (_, at) =>
    mask[at + 1] === 1 ? numbers[next++]! : 0,
  );
}
