import { TinkerError } from "./errors.ts";
import { futureOf, type TinkerFuture } from "./future.ts";
import type { Transport } from "./transport.ts";
import type { SampleParams, SampleResult, SamplerTarget, SubmitOptions } from "./types.ts";
import { chunksOf, lengthOf } from "./wire/input.ts";
import { sampleBody } from "./wire/sample.ts";

/** Options of a sampling call. It changes no model, so it is repeatable by default. */
export interface SampleOptions extends SubmitOptions {
  /** The request's number in its sampling session. Default: counted from a random start, as several processes may share one. */
  readonly seqId?: number | undefined;
}

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
    this.#nextSeqId = Math.floor(Math.random() * 2 ** 20) * 1_000_000_000 + 1;
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
