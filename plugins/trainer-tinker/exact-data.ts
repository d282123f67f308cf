import type { Reduction, ServerProfile } from "./profiles.ts";

/** The numbers of a sequence, one for each predicted token. The first token is not predicted. */
export interface PredictedTokens {
  /** The sequence without its last token. */
  inputs: readonly number[];
  /** The sequence without its first token. */
  targets: readonly number[];
  /** Under the current policy, as the server returned them. Where the gradient is 0, any number that is not positive. */
  logProbabilities: Float32Array;
  /** Of the loss with respect to the log-probabilities. */
  gradients: Float32Array;
}

/** The same for the clipped loss of a server. Where the advantage is 0, so is the old log-probability. */
export interface ClippedTokens extends Pick<PredictedTokens, "inputs" | "targets"> {
  oldLogProbabilities: Float32Array;
  /** With the weights of the tokens in the loss. */
  advantages: Float32Array;
}

/** A datum of `forward` and `forward_backward`. */
export interface ServerDatum {
  inputs: readonly number[];
  targets: readonly number[];
  /** The loss's float inputs by name, one number per target. */
  columns: Readonly<Record<string, Float32Array>>;
}

/** The data of an update's calls, and the loss whose gradient is then exactly the given one. */
export interface ExactPasses {
  loss: "cross_entropy" | "importance_sampling";
  calls: ServerDatum[][];
}

/** Returns the data for the log-probabilities of all targets. */
export function scoringDatum(inputs: readonly number[], targets: readonly number[]): ServerDatum {
  return { inputs, targets, columns: { weights: new Float32Array(targets.length).fill(1) } };
}

/**
 * Returns the calls of one update by the weights −g, for servers whose cross entropy is a plain sum. The server then
 * computes −Σ (−g) l, whose derivative is g.
 */
export function callsByWeights(parts: readonly (readonly PredictedTokens[])[]): ExactPasses {
  const calls = parts.map((part) =>
    part.map(({ inputs, targets, gradients }) => ({
      inputs,
      targets,
      columns: { weights: gradients.map(negated) },
    })),
  );
  return { loss: "cross_entropy", calls };
}

/**
 * Returns the calls of one update by importance sampling, for servers that take each sequence's mean over the weights
 * and the mean over all sequences since the last optimizer step. At ratio 1 the derivative of −r A is −A. So the
 * advantages are −g times the tokens of the sequence times the sequences of the whole update, over all calls.
 */
export function callsByImportanceSampling(parts: readonly (readonly PredictedTokens[])[]): ExactPasses {
  const clipped = parts.map((part) =>
    part.map(({ inputs, targets, logProbabilities, gradients }) => {
      return { inputs, targets, oldLogProbabilities: logProbabilities, advantages: gradients.map(negated) };
    }),
  );
  return { loss: "importance_sampling", calls: clippedCalls("sequence-mean", clipped) };
}

/**
 * Returns the calls of one update by the server's own clipped loss: with advantages that are multiplied by what the
 * server divides a sequence's sum by. Factors ≥ 0, and so the weights of tokens, can be part of the advantages because
 * min(r w A, clip(r) w A) = w min(r A, clip(r) A).
 */
export function clippedCalls(
  reduction: Reduction,
  parts: readonly (readonly ClippedTokens[])[],
): ServerDatum[][] {
  const sequences = parts.reduce((sum, { length }) => sum + length, 0);
  return parts.map((part) =>
    part.map(({ inputs, targets, oldLogProbabilities, advantages }) => {
      const scale = reduction === "sequence-mean" ? targets.length * sequences : 1;
      const columns = {
        logprobs: oldLogProbabilities,
        advantages: advantages.map((advantage) => advantage * scale),
      };
      return { inputs, targets, columns };
    }),
  );
}

/** Returns an update's calls for a server that has a loss for them. */
export function exactCalls(
  way: Exclude<ServerProfile["way"], undefined | "custom-steps">,
  parts: readonly (readonly PredictedTokens[])[],
): ExactPasses {
  return way === "weights" ? callsByWeights(parts) : callsByImportanceSampling(parts);
}

/** −0 would reach the wire as a number that JSON and equality treat differently. */
function negated(value: number): number {
  return value === 0 ? 0 : -value;
}
