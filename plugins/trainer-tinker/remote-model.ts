import type { RemoteModel, SequenceGradients, TokenSequence } from "everturn/engine";
import { exactCalls, type PredictedTokens, type ServerDatum, scoringDatum } from "./exact-data.ts";
import type { ServerProfile } from "./profiles.ts";
import type { OptimizerNumbers, ServerMetrics, ServerModel } from "./server-model.ts";

/** A model on a server, and how it is trained. */
export interface RemoteModelOptions {
  profile: ServerProfile;
  model: ServerModel;
  /** Returns the model that the KL term and preferences refer to. Called at its first use. */
  reference: () => Promise<ServerModel>;
  optimizer: Omit<OptimizerNumbers, "learningRate">;
  /** The most tokens of one call. A longer sequence has a call of its own. */
  callTokens: number;
}

/** Returns the model as an engine trains it. */
export function remoteModel(options: RemoteModelOptions): RemoteModel {
  const { profile, model, reference, callTokens } = options;
  return {
    async score(sequences, weights, onShare) {
      const scorer = weights === "policy" ? model : await reference();
      const data = sequences.map(({ tokens, mask }) => {
        const length = mask.lastIndexOf(1) + 1;
        return scoringDatum(tokens.slice(0, length - 1), tokens.slice(1, length));
      });
      const scores: Float32Array[] = [];
      for (const part of inCalls(data, callTokens)) {
        scores.push(...(await scorer.forward(part)));
        onShare?.(scores.length / data.length);
      }
      return scores.map((logProbabilities, index) => ofActions(sequences[index]!, logProbabilities));
    },
    async update(sequences, learningRate, onShare) {
      const parts = inCalls(sequences.map(predictedTokens), callTokens);
      await addGradients(profile, model, parts, onShare);
      const metrics = await model.optimStep({
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
    all.push(await model.forwardBackward(data, loss));
    onShare?.(all.length / calls.length);
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

/** Spreads the numbers of a sequence's action tokens over all its targets, up to the last action token. */
function predictedTokens({ sequence, logProbabilities, gradients }: SequenceGradients): PredictedTokens {
  const { tokens, mask } = sequence;
  const length = mask.lastIndexOf(1) + 1;
  const spread = (numbers: Float32Array) => {
    let next = 0;
    return Float32Array.from({ length: length - 1 }, (_, at) => (mask[at + 1] === 1 ? numbers[next++]! : 0));
  };
  return {
    inputs: tokens.slice(0, length - 1),
    targets: tokens.slice(1, length),
    logProbabilities: spread(logProbabilities),
    gradients: spread(gradients),
  };
}
