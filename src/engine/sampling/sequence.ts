import { createUniformStream } from "../../base/random/uniform-stream.ts";
import type { SamplingKey, SamplingParameters } from "../../contracts/policy.ts";
import { type RouterTies, tiesBetween } from "../../contracts/router-ties.ts";
import type { NextTokenOutput } from "../models/decode/cached-decoder.ts";
import type { Restrictions } from "./restrictions.ts";
import { type NextToken, sampleToken, wantedOutputs } from "./sample-token.ts";
import { stopTexts } from "./stop-texts.ts";
import type { TokenConstraint } from "./token-constraint.ts";

/** One continuation to sample. */
export interface SampleRequest {
  /** The whole context, token by token. */
  tokens: number[];
  version: number;
  sampling: SamplingParameters;
  key: SamplingKey;
  /** What a grammar allows; disposed of when the sample is there. */
  constraint?: TokenConstraint;
  /** Aborting takes the request out of the batch; its promise rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called when the request joins a batch; if it throws, nothing is sampled and the request fails with that. */
  onBegin?: () => void;
  /** Told of each token, before the last, how many there are. */
  onProgress?: (tokens: number) => void;
}

/** What was sampled, the stop token included, with log-probabilities as `Generation` has them. */
export interface Sample {
  tokens: number[];
  logprobs: number[];
  temperedLogprobs: number[];
  samplingLogprobs: number[];
  /** Of a mixture of experts, where the decoder tells them: of the context and what was sampled. */
  routerTies: number[];
  finishReason: "stop" | "length";
}

/** A sample without tokens yet. */
export function emptySample(): Sample {
  const numbers = { tokens: [], logprobs: [], temperedLogprobs: [], samplingLogprobs: [], routerTies: [] };
  return { ...numbers, finishReason: "length" };
}

/** A request on its way: in the queue, then in a row of a batch. */
export interface Sequence {
  /** The number of those that came before it. */
  readonly arrival: number;
  /** Whose turn it is. */
  readonly trajectory: string;
  readonly prompt: readonly number[];
  readonly tokens: readonly number[];
  /** Routers' ties so far. */
  readonly ties: RouterTies;
  /** Positions that it may fill: prompt and continuation. */
  readonly room: number;
  /** What it wants to know of the next token. */
  readonly wanted: readonly NextTokenOutput[];
  readonly temperature: number;
  /** Positions whose keys and values are in the cache. */
  length: number;
  /** Finished, failed or aborted: its row is free. */
  done: boolean;
  /** Its wait is over: whether there is still something to sample. */
  begin(): boolean;
  /** Finds out what the grammar allows next; to be awaited before `advance`. Undefined without a grammar. */
  prepare?: () => Promise<void>;
  /**
   * Samples the token after the first `length` positions; finishes at a stop or the limit. Does nothing while tokens are
   * decoded again that were sampled before it gave way.
   */
  advance(next: NextToken): void;
  /** Takes ties of the positions before `end` that it has none of yet. */
  addTies(ties: RouterTies, end: number): void;
  fail(error: unknown): void;
}

/** What becomes of a sequence: one of `finish` and `fail` is called, once, and `settled` before it. */
export interface SequenceHandlers {
  settled(sequence: Sequence): void;
  finish(sample: Sample): void;
  fail(error: unknown): void;
}

/** When a sequence came, and when it ends. */
export interface SequenceLimits {
  /** The number of those that came before it. */
  arrival: number;
  /** Tokens it may sample. */
  limit: number;
  stopTokens: ReadonlySet<number>;
  /** The text of tokens, to find stop texts in. */
  decode: (tokens: readonly number[]) => string;
}

/** Starts a sequence. */
export function createSequence(
  request: SampleRequest,
  limits: SequenceLimits,
  handlers: SequenceHandlers,
): Sequence {
  const { sampling, constraint, signal } = request;
  const uniform = createUniformStream(request.key);
  const stopTokens = new Set([...limits.stopTokens, ...(sampling.stopTokens ?? [])]);
  const stops = stopTexts(sampling.stop ?? [], limits.decode);
  const penalized = (sampling.repetitionPenalty ?? 1) !== 1;
  const restrictions: Restrictions | undefined =
    penalized || constraint ? { seen: new Set(penalized ? request.tokens : []) } : undefined;
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
