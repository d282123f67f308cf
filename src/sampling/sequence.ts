import type { SamplingKey, SamplingParameters } from "../contracts/policy.ts";
import { createUniformStream } from "../random/uniform-stream.ts";
import { sampleToken } from "./sample-token.ts";

/** One continuation to sample. */
export type SampleRequest = {
  /** The whole context, token by token. */
  tokens: number[];
  version: number;
  sampling: SamplingParameters;
  key: SamplingKey;
  /** Aborting takes the request out of the batch; its promise rejects with the signal's reason. */
  signal?: AbortSignal;
};

/** What was sampled, the stop token included; `logprobs[i]` (nats, temperature 1) belongs to `tokens[i]`. */
export type Sample = { tokens: number[]; logprobs: number[]; finishReason: "stop" | "length" };

/** A request on its way: in the queue, then in a row of a batch. */
export type Sequence = {
  readonly prompt: readonly number[];
  readonly tokens: number[];
  /** Positions whose keys and values are in the cache. */
  length: number;
  /** Finished, failed or aborted: its row is free. */
  done: boolean;
  /** Samples the next token from the logits after the last one; finishes at a stop token or the limit. */
  advance(logits: Float32Array): void;
  fail(error: unknown): void;
};

/** What becomes of a sequence: one of `finish` and `fail` is called, once, and `settled` before it. */
export type SequenceHandlers = {
  settled(sequence: Sequence): void;
  finish(sample: Sample): void;
  fail(error: unknown): void;
};

/** Starts a sequence that may sample `limit` tokens. */
export function createSequence(
  request: SampleRequest,
  limits: { limit: number; stopTokens: ReadonlySet<number> },
  handlers: SequenceHandlers,
): Sequence {
  const uniform = createUniformStream(request.key);
  const tokens: number[] = [];
  const logprobs: number[] = [];
  const abort = () => sequence.fail(request.signal?.reason);
  const settle = () => {
    sequence.done = true;
    request.signal?.removeEventListener("abort", abort);
    handlers.settled(sequence);
  };
  const sequence: Sequence = {
    prompt: request.tokens,
    tokens,
    length: 0,
    done: false,
    advance(logits) {
      if (sequence.done) return;
      try {
        const { token, logprob } = sampleToken(logits, request.sampling, uniform(tokens.length));
        tokens.push(token);
        logprobs.push(logprob);
        const stopped = limits.stopTokens.has(token);
        if (!stopped && tokens.length < limits.limit) return;
        settle();
        handlers.finish({ tokens, logprobs, finishReason: stopped ? "stop" : "length" });
      } catch (error) {
        sequence.fail(error);
      }
    },
    fail(error) {
      if (sequence.done) return;
      settle();
      handlers.fail(error);
    },
  };
  request.signal?.addEventListener("abort", abort);
  return sequence;
}
