import { createUniformStream } from "../../base/random/uniform-stream.ts";
import type { ImageEmbeddings } from "../../contracts/image-tokens.ts";
import type { SamplingKey, SamplingParameters } from "../../contracts/policy.ts";
import { type RouterTies, tiesBetween } from "../../contracts/router-ties.ts";
import type { NextTokenOutput } from "../models/decode/cached-decoder.ts";
import type { Restrictions } from "./restrictions.ts";
import { type NextToken, sampleToken, wantedOutputs } from "./sample-token.ts";
import { stopTexts } from "./stop-texts.ts";
import type { TokenConstraint } from "./token-constraint.ts";

/** A continuation to sample. */
export interface SampleRequest {
  /** The whole context. */
  tokens: number[];
  version: number;
  sampling: SamplingParameters;
  key: SamplingKey;
  /** The embeddings of tokens whose ids are not in the vocabulary. */
  embeddings?: ImageEmbeddings;
  /** The allowed tokens by a grammar. It is disposed of after the sample. */
  constraint?: TokenConstraint;
  /** Aborting removes the request from the batch. Its promise rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called when the request joins a batch. If it throws, the request fails with that error and nothing is sampled. */
  onBegin?: () => void;
  /** Called after each token except the last with the number of tokens so far. */
  onProgress?: (tokens: number) => void;
}

/** The sampled tokens, including the stop token, with the log-probabilities of `Generation`. */
export interface Sample {
  tokens: number[];
  logprobs: number[];
  temperedLogprobs: number[];
  samplingLogprobs: number[];
  /** For a mixture of experts, if the decoder reports them: routing ties of the context and the sampled tokens. */
  routerTies: number[];
  finishReason: "stop" | "length";
}

/** Returns a sample without tokens. */
export function emptySample(): Sample {
  const numbers = { tokens: [], logprobs: [], temperedLogprobs: [], samplingLogprobs: [], routerTies: [] };
  return { ...numbers, finishReason: "length" };
}

/** An active request: first in the queue, then in a row of a batch. */
export interface Sequence {
  /** The number of requests that arrived before it. */
  readonly arrival: number;
  /** The trajectory whose turn it is. */
  readonly trajectory: string;
  readonly prompt: readonly number[];
  readonly embeddings: ImageEmbeddings | undefined;
  readonly tokens: readonly number[];
  /** Routing ties so far. */
  readonly ties: RouterTies;
  /** The most positions that it may fill with prompt and continuation. */
  readonly room: number;
  /** The outputs that it needs for the next token. */
  readonly wanted: readonly NextTokenOutput[];
  readonly temperature: number;
  /** The number of positions whose keys and values are in the cache. */
  length: number;
  /** Finished, failed or aborted. Its row is free. */
  done: boolean;
  /** Ends its wait. Returns whether it still has something to sample. */
  begin(): boolean;
  /** Computes the tokens that the grammar allows next. Await it before `advance`. Undefined without a grammar. */
  prepare?: () => Promise<void>;
  /**
   * Samples the token after the first `length` positions, and finishes at a stop or the limit. Does nothing while
   * tokens are decoded again that were sampled before the sequence left its batch.
   */
  advance(next: NextToken): void;
  /** Adds the ties of positions before `end` that it does not have yet. */
  addTies(ties: RouterTies, end: number): void;
  fail(error: unknown): void;
}

/** Called at the end of a sequence: first `settled`, then either `finish` or `fail`, once. */
export interface SequenceHandlers {
  settled(sequence: Sequence): void;
  finish(sample: Sample): void;
  fail(error: unknown): void;
}

/** The arrival and the limits of a sequence. */
export interface SequenceLimits {
  /** The number of requests that arrived before it. */
  arrival: number;
  /** The most tokens to sample. */
  limit: number;
  stopTokens: ReadonlySet<number>;
  /** Returns the text of tokens, in which stop texts are searched. */
  decode: (tokens: readonly number[]) => string;
}

/** Creates a sequence. */
export function createSequence(
  request: SampleRequest,
  limits: SequenceLimits,
  handlers: SequenceHandlers,
): Sequence {
  const { sampling, constraint, signal, embeddings } = request;
  const uniform = createUniformStream(request.key);
  const stopTokens = new Set([...limits.stopTokens, ...(sampling.stopTokens ?? [])]);
  const stops = stopTexts(sampling.stop ?? [], limits.decode);
  const penalized = (sampling.repetitionPenalty ?? 1) !== 1;
  const restrictions: Restrictions | undefined =
    penalized || constraint
      ? { seen: new Set(penalized ? request.tokens.filter((token) => !embeddings?.has(token)) : []) }
      : undefined;
  const sample = emptySample();
  let begun = false;
  let tiesEnd = 0;
  const isBehind = () => sequence.length < request.tokens.length + sample.tokens.length;
  const abort = () => sequence.fail(signal?.reason);
  const settle = () => {
    sequence.done = true;
    signal?.removeEventListener("abort", abort);
    handlers.settled(sequence);
  };

  const take = (next: NextToken) => {
    const drawn = sampleToken(next, sampling, () => uniform(sample.tokens.length), restrictions);
    sample.tokens.push(drawn.token);
    sample.logprobs.push(drawn.logprob);
    sample.temperedLogprobs.push(drawn.temperedLogprob);
    sample.samplingLogprobs.push(drawn.samplingLogprob);
    if (penalized) restrictions?.seen.add(drawn.token);
    const stopped = stopTokens.has(drawn.token) || stops(sample.tokens);
    if (!stopped && sample.tokens.length < limits.limit) {
      constraint?.accept(drawn.token);
      request.onProgress?.(sample.tokens.length);
      return;
    }
    settle();
    handlers.finish({ ...sample, finishReason: stopped ? "stop" : "length" });
  };

  const sequence: Sequence = {
    arrival: limits.arrival,
    trajectory: request.key.trajectory,
    prompt: request.tokens,
    embeddings,
    tokens: sample.tokens,
    ties: sample.routerTies,
    room: request.tokens.length + limits.limit,
    wanted: wantedOutputs(sampling, restrictions !== undefined),
    temperature: sampling.temperature,
    length: 0,
    done: false,
    ...(constraint &&
      restrictions && {
        async prepare() {
          if (!sequence.done && !isBehind()) restrictions.allowed = await constraint.allowed();
        },
      }),
    begin() {
      try {
        if (!sequence.done && !begun) request.onBegin?.();
        begun = true;
      } catch (error) {
        sequence.fail(error);
      }
      return !sequence.done;
    },
    advance(next) {
      if (sequence.done || isBehind()) return;
      try {
        take(next);
      } catch (error) {
        sequence.fail(error);
      }
    },
    addTies(ties, end) {
      for (const value of tiesBetween(ties, tiesEnd, end)) sample.routerTies.push(value); // too many for arguments
      tiesEnd = Math.max(tiesEnd, end);
    },
    fail(error) {
      if (sequence.done) return;
      settle();
      handlers.fail(error);
    },
  };
  signal?.addEventListener("abort", abort);
  return sequence;
}
