import { Counter } from "./counter.ts";
import { TinkerError } from "./errors.ts";
import { futureOf, resultOf, type TinkerFuture } from "./future.ts";
import { send } from "./http/send.ts";
import { TinkerModel } from "./model.ts";
import { TinkerSampler } from "./sampler.ts";
import type { Transport } from "./transport.ts";
import type { LoraParams, SamplerTarget, SubmitOptions } from "./types.ts";

/** Milliseconds between heartbeats. Tinker's SDK has the same interval; SkyRL drops a session after 300 s without one. */
const heartbeatMs = 10_000;

/** A model to create. */
export interface ModelParams {
  readonly baseModel: string;
  /** Without it, the server trains all weights, if it can. */
  readonly lora?: LoraParams | undefined;
  /** Texts that the server keeps with the model. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** The model's number in its session. Default: counted from 0. Tinker's own server recognizes repetitions by it. */
  readonly modelSeqId?: number | undefined;
}

/** A loss for the server, as a traced graph in the form of `torch.fx`. */
export interface CustomLoss {
  readonly name: string;
  /** The graph's inputs, `logprobs` first. Rank 0 is a scalar, 1 a value per token, 2 several per token. */
  readonly inputs: readonly { readonly name: string; readonly rank: 0 | 1 | 2 }[];
  readonly graph: { readonly format: 1; readonly nodes: readonly Readonly<Record<string, unknown>>[] };
}

/** A session: what keeps models and samplers alive. It sends heartbeats until it is closed. */
export class TinkerSession {
  readonly sessionId: string;
  /** What the server said when it created the session, if anything. */
  readonly messages: readonly string[];
  readonly #transport: Transport;
  readonly #timer: NodeJS.Timeout;
  #heartbeatFailure: TinkerError | undefined;
  readonly #models = new Counter();
  readonly #samplers = new Counter();
  readonly #losses = new Counter();
  #isBeating = false;

  /** Use `client.createSession()` or `client.session(sessionId)`. */
  constructor(transport: Transport, sessionId: string, messages: readonly string[] = []) {
    this.#transport = transport;
    this.sessionId = sessionId;
    this.messages = messages;
    this.#timer = setInterval(() => void this.#beat(), heartbeatMs).unref();
    transport.connection.signal?.addEventListener("abort", () => this.close(), { once: true });
  }

  /**
   * The last heartbeat's failure; undefined if the last one succeeded. `unknown-session` means that the server dropped the
   * session; the others may be over soon. Most servers answer heartbeats of sessions that they lost as if nothing had happened.
   */
  get heartbeatFailure(): TinkerError | undefined {
    return this.#heartbeatFailure;
  }

  /** Stops the heartbeats. The server then drops the session and its models after a while. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** Sends a heartbeat now. Throws its failure. */
  async heartbeat(signal?: AbortSignal): Promise<void> {
    const body = { session_id: this.sessionId, type: "session_heartbeat" };
    await this.#transport.ask("POST", "session_heartbeat", body, { signal });
  }

  /**
   * Creates a model, and waits until it is ready. Throws `unexpected-base-model` if the server reports another base model than
   * the requested one.
   */
  async createModel(params: ModelParams, options: SubmitOptions = {}): Promise<TinkerModel> {
    const future = await this.submitCreateModel(params, options);
    const created = await future.result(options);
    const { baseModel = params.baseModel } = created;
    if (baseModel !== params.baseModel)
      throw new TinkerError(
        "unexpected-base-model",
        `The server trains ${baseModel} instead of ${params.baseModel}. Request the model by the server's name for it.`,
        { detail: baseModel, mayHaveRun: true },
      );
    return new TinkerModel(this.#transport, this.#samplers, { modelId: created.modelId, baseModel });
  }

  /** Sends a request to create a model. Its result names it: `session.model(modelId)`. */
  async submitCreateModel(
    params: ModelParams,
    options: SubmitOptions = {},
  ): Promise<TinkerFuture<"createModel">> {
    const { baseModel, lora, metadata = {}, modelSeqId = this.#models.next() } = params;
    const submitted = await this.#transport.submit(
      {
        method: "POST",
        path: "create_model",
        body: {
          session_id: this.sessionId,
          model_seq_id: modelSeqId,
          base_model: baseModel,
          user_metadata: metadata,
          lora_config: lora === undefined ? null : loraJson(lora),
          type: "create_model",
        },
      },
      options,
    );
    return futureOf(this.#transport, "createModel", submitted);
  }

  /** A model that exists already, for example in a process that continues another's work. Sends nothing. */
  model(
    modelId: string,
    options: { nextSeqId?: number | undefined; baseModel?: string | undefined } = {},
  ): TinkerModel {
    const { baseModel, nextSeqId = 1 } = options;
    return new TinkerModel(this.#transport, this.#samplers, { modelId, baseModel, nextSeqId });
  }

  /** A sampler of a sampling session, of saved weights, or of a base model. Sends nothing. */
  sampler(target: SamplerTarget): TinkerSampler {
    return new TinkerSampler(this.#transport, target);
  }

  /** Asks the server for a sampling session, and returns its sampler. */
  async createSampler(
    target: { readonly modelPath: string } | { readonly baseModel: string },
    options: SubmitOptions = {},
  ): Promise<TinkerSampler> {
    const weights =
      "modelPath" in target ? { model_path: target.modelPath } : { base_model: target.baseModel };
    const body = {
      session_id: this.sessionId,
      sampling_session_seq_id: this.#samplers.next(),
      ...weights,
      type: "create_sampling_session",
    };
    const submitted = await this.#transport.submit(
      { method: "POST", path: "create_sampling_session", body },
      { ...options, repeatable: options.repeatable ?? true },
    );
    return this.sampler(await resultOf(this.#transport, "createSampler", submitted, options));
  }

  /**
   * Stores a loss on servers that run losses of their callers. Returns its id, which passes name by the loss `custom` with the
   * setting `loss_id`.
   */
  async createCustomLoss(
    loss: CustomLoss,
    options: SubmitOptions & { lossSeqId?: number | undefined } = {},
  ): Promise<string> {
    const { lossSeqId = this.#losses.next() } = options;
    const body = {
      session_id: this.sessionId,
      custom_loss_seq_id: lossSeqId,
      ...loss,
      type: "create_custom_loss",
    };
    const submitted = await this.#transport.submit(
      { method: "POST", path: "create_custom_loss", body },
      { ...options, repeatable: options.repeatable ?? true },
    );
    return (await resultOf(this.#transport, "createCustomLoss", submitted, options)).lossId;
  }

  /** Sends one heartbeat, without repetitions. None is sent while the one before it waits for its answer. */
  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    try {
      const body = { session_id: this.sessionId, type: "session_heartbeat" };
      const connection = {
        ...this.#transport.connection,
        retry: { attempts: 1, minDelayMs: 0, maxDelayMs: 0 },
      };
      await send(connection, { method: "POST", path: "session_heartbeat", body, repeatable: true });
      this.#heartbeatFailure = undefined;
    } catch (error) {
      if (!(error instanceof TinkerError)) return; // the client's signal aborted
      this.#heartbeatFailure = error;
      if (error.code === "unknown-session") this.close();
    } finally {
      this.#isBeating = false;
    }
  }
}

function loraJson({ rank, seed, trainAttn, trainMlp, trainUnembed }: LoraParams): Record<string, unknown> {
  return {
    rank,
    seed,
    train_attn: trainAttn,
    train_mlp: trainMlp,
    train_unembed: trainUnembed,
  };
}
