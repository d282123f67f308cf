import { TinkerError } from "./errors.ts";
import { futureOf, type TinkerFuture } from "./future.ts";
import { fieldsOf, listOf, optionalNumber, textOf } from "./http/json.ts";
import { send } from "./http/send.ts";
import type { Transport } from "./transport.ts";
import type { RequestOptions, SampleParams, SampleResult, SamplerTarget, SubmitOptions } from "./types.ts";
import { chunksOf, lengthOf } from "./wire/input.ts";
import { sampleBody } from "./wire/sample.ts";
import { invalid } from "./wire/tensors.ts";

/** Options of a sampling call. It changes no model, so it is repeatable by default. */
export interface SampleOptions extends SubmitOptions {
  /** The request's number in its sampling session. Default: counted from a random start, as several processes may share one. */
  readonly seqId?: number | undefined;
}

/** Options of `finished`. */
export interface FinishedOptions extends RequestOptions {
  /** The cursor of the previous answer. Default 0: from the beginning. */
  readonly cursor?: number | undefined;
  /** Requests whose results have arrived, which the server may then delete. */
  readonly retrieved?: readonly string[] | undefined;
}

/** Requests that have ended. */
export interface FinishedRequests {
  readonly requests: readonly { readonly requestId: string; readonly state: "finished" | "failed" }[];
  /** For the next call. */
  readonly cursor: number;
}

/** Milliseconds after which a poll of `finished` starts over. The server holds one for 30 s. */
const pollTimeoutMs = 45_000;

/** The numbers of a sampling session that belong to one client, as in Tinker's SDK. */
const numbersPerClient = 1_000_000_000;

/** Samples from one set of weights. */
export class TinkerSampler {
  readonly target: SamplerTarget;
  readonly #transport: Transport;
  #nextSeqId: number;

  /** Use `session.sampler(…)`, `session.createSampler(…)` or `model.sampler()`. */
  constructor(transport: Transport, target: SamplerTarget) {
    this.#transport = transport;
    this.target = target;
    // Tinker's SDK numbers each further client of a sampling session from a random multiple of a billion.
    this.#nextSeqId = Math.floor(Math.random() * 2 ** 20) * numbersPerClient + 1;
  }

  /** Samples, and waits for the sequences. If the signal aborts, the server is asked to stop. */
  async sample(params: SampleParams, options: SampleOptions = {}): Promise<SampleResult> {
    const future = await this.submitSample(params, options);
    try {
      return await future.result(options);
    } catch (error) {
      // Nobody waits for this request any longer, so nobody can use a failure to cancel it either.
      if (options.signal?.aborted || isTimeout(error)) future.cancel().catch(() => undefined);
      throw error;
    }
  }

  /** Sends a sampling request, and returns its future. */
  async submitSample(params: SampleParams, options: SampleOptions = {}): Promise<TinkerFuture<"sample">> {
    const { seqId = this.#nextSeqId++ } = options;
    const body = { ...sampleBody(params), ...this.#targetBody(seqId) };
    const promptLength = lengthOf(chunksOf(params.prompt, "the prompt"));
    const submitted = await this.#transport.submit(
      { method: "POST", path: "asample", body },
      { ...options, repeatable: options.repeatable ?? true },
    );
    return futureOf(this.#transport, "sample", submitted, { promptLength });
  }

  /**
   * Waits until requests of this sampler have ended, and names them: one poll for thousands of samples instead of one for each.
   * Tinker's own service has it, where its setting `sample_use_retrieve_futures` is on; others throw `not-supported`. A
   * sampler without a sampling session throws `invalid-request`.
   */
  async finished(options: FinishedOptions = {}): Promise<FinishedRequests> {
    const { cursor = 0, retrieved = [], signal, timeoutMs } = options;
    if (!("samplingSessionId" in this.target))
      throw invalid("the sampler has no sampling session. Create it with createSampler()");
    const target = {
      type: "sampling_session",
      sampling_session_id: this.target.samplingSessionId,
      cloned_sampler_id: Math.floor(this.#nextSeqId / numbersPerClient),
    };
    const wait = timeoutMs === undefined ? {} : { timeout: timeoutMs / 1000 };
    const answer = await send(this.#transport.connection, {
      method: "POST",
      path: "retrieve_futures",
      body: { target, prev_cursor: cursor, retrieved_request_ids: retrieved, ...wait },
      repeatable: true,
      isLongPoll: true,
      answerTimeoutMs: pollTimeoutMs,
      signal,
    });
    const fields = fieldsOf(answer.json(), "the answer to retrieve_futures");
    return {
      requests: listOf(fields, "completions").map((value) => {
        const one = fieldsOf(value, "a completion");
        const state = one.state === "failed" ? "failed" : "finished";
        return { requestId: textOf(one, "request_id"), state };
      }),
      cursor: optionalNumber(fields, "cursor") ?? cursor,
    };
  }

  #targetBody(seqId: number): Record<string, unknown> {
    const { target } = this;
    if ("samplingSessionId" in target)
      return { sampling_session_id: target.samplingSessionId, seq_id: seqId };
    if ("modelPath" in target) return { model_path: target.modelPath };
    return { base_model: target.baseModel };
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof TinkerError && error.code === "timeout";
}
