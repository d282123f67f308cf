import type { Counter } from "./counter.ts";
import { TinkerError } from "./errors.ts";
import { futureOf, resultOf, type TinkerFuture } from "./future.ts";
import type { Request } from "./http/send.ts";
import { OrderedWork } from "./ordered-work.ts";
import { TinkerSampler } from "./sampler.ts";
import type { Transport } from "./transport.ts";
import type {
  AdamParams,
  CustomForwardResult,
  Datum,
  ForwardResult,
  FutureKind,
  LoadedWeights,
  LossConfig,
  LossName,
  RequestOptions,
  SavedForSampler,
  SavedWeights,
  SequenceOptions,
  StepResult,
  SubmitOptions,
} from "./types.ts";
import { dataJson, passJson, passProtobuf } from "./wire/forward-backward.ts";
import { readyData } from "./wire/input.ts";

/** Options of a pass. */
export interface PassOptions extends SequenceOptions {
  /** Settings of the loss, such as `{ clip_low_threshold: 0.8 }`. */
  readonly lossConfig?: LossConfig | undefined;
}

/** Options of `saveWeights`. */
export interface SaveOptions extends SequenceOptions {
  /** Seconds until the server deletes the checkpoint. Default: never. Only Tinker's own server. */
  readonly ttlSeconds?: number | undefined;
  /** Whether to replace a checkpoint of this name. Default false. Only Tinker's own server. */
  readonly overwrite?: boolean | undefined;
}

/** Options of `saveWeightsForSampler`. */
export interface SaveForSamplerOptions extends SequenceOptions {
  /** A name, to save the weights as a checkpoint that can be downloaded. Without it, a new sampling session uses them. */
  readonly path?: string | undefined;
  readonly ttlSeconds?: number | undefined;
}

/** Options of `saveWeightsExternal`. */
export interface ExternalOptions extends SequenceOptions {
  /** Seconds until the server deletes the files, at least 3600. Default: never. */
  readonly ttlSeconds?: number | undefined;
}

/** Options of `loadWeights`. */
export interface LoadOptions extends SequenceOptions {
  /** Whether to load the optimizer's state too. Without it, the next steps differ from those of the saved run. */
  readonly optimizer: boolean;
}

/** A request of the model, without its method and options. */
type ModelRequest = Pick<Request, "path" | "body" | "headers">;

/**
 * A model that the server trains. Its requests are sent one after another, in the order of the calls. Each method that waits for
 * a result has a twin named `submit…`, which returns the request's future as soon as the server has accepted the request.
 */
export class TinkerModel {
  readonly modelId: string;
  /** The base model, in the server's words if it reports one. */
  readonly baseModel: string | undefined;
  /** The number of the next request without a `seqId`. The first is 1. */
  nextSeqId: number;
  readonly #transport: Transport;
  readonly #samplers: Counter;
  readonly #work = new OrderedWork();

  /** Use `session.createModel(…)` or `session.model(modelId)`. */
  constructor(
    transport: Transport,
    samplers: Counter,
    {
      modelId,
      baseModel,
      nextSeqId = 1,
    }: { modelId: string; baseModel: string | undefined; nextSeqId?: number },
  ) {
    this.#transport = transport;
    this.#samplers = samplers;
    this.modelId = modelId;
    this.baseModel = baseModel;
    this.nextSeqId = nextSeqId;
  }

  /** Computes the loss and its outputs, without a gradient. Changes no weights, so it is repeatable by default. */
  async forward(data: readonly Datum[], loss: LossName, options: PassOptions = {}): Promise<ForwardResult> {
    return (await this.submitForward(data, loss, options)).result(options);
  }

  /** Sends a forward pass. */
  submitForward(
    data: readonly Datum[],
    loss: LossName,
    options: PassOptions = {},
  ): Promise<TinkerFuture<"forward">> {
    return this.#pass("forward", data, loss, { ...options, repeatable: options.repeatable ?? true });
  }

  /** Computes the loss, and adds its gradient to that of earlier passes since the last optimizer step. */
  async forwardBackward(
    data: readonly Datum[],
    loss: LossName,
    options: PassOptions = {},
  ): Promise<ForwardResult> {
    return (await this.submitForwardBackward(data, loss, options)).result(options);
  }

  /** Sends a forward and backward pass. */
  submitForwardBackward(
    data: readonly Datum[],
    loss: LossName,
    options: PassOptions = {},
  ): Promise<TinkerFuture<"forwardBackward">> {
    return this.#pass("forwardBackward", data, loss, options);
  }

  /**
   * Hatchery only: computes log-probabilities under `customId`, for which `customBackward` then takes the gradient of any loss
   * with respect to them.
   */
  async customForward(
    data: readonly Datum[],
    customId: string,
    options: SequenceOptions = {},
  ): Promise<CustomForwardResult> {
    const ready = readyData(data);
    const future = await this.#submit(
      "customForward",
      { ...options, repeatable: options.repeatable ?? true },
      (seqId) => ({
        path: "forward_backward_custom_step1",
        body: {
          model_id: this.modelId,
          seq_id: seqId,
          forward_backward_input: { data: dataJson(ready), custom_id: customId },
        },
      }),
    );
    return future.result(options);
  }

  /** Hatchery only: adds the gradient of Σ gradients · log-probabilities of `customForward`. */
  async customBackward(
    customId: string,
    gradients: readonly (readonly number[] | Float32Array)[],
    options: SequenceOptions = {},
  ): Promise<StepResult> {
    const rows = gradients.map((row) => Array.from(row));
    const future = await this.#submit("customBackward", options, (seqId) => ({
      path: "forward_backward_custom_step2",
      body: {
        model_id: this.modelId,
        seq_id: seqId,
        forward_backward_input: { custom_id: customId, grad_logprobs: rows },
      },
    }));
    return future.result(options);
  }

  /** Changes the weights by the gradient, which is then zero. */
  async optimStep(params: AdamParams, options: SequenceOptions = {}): Promise<StepResult> {
    return (await this.submitOptimStep(params, options)).result(options);
  }

  /** Sends a step of the optimizer. */
  submitOptimStep(params: AdamParams, options: SequenceOptions = {}): Promise<TinkerFuture<"optimStep">> {
    const {
      learningRate,
      beta1 = 0.9,
      beta2 = 0.95,
      eps = 1e-12,
      weightDecay = 0,
      gradClipNorm = 0,
    } = params;
    return this.#submit("optimStep", options, (seqId) => ({
      path: "optim_step",
      body: {
        model_id: this.modelId,
        seq_id: seqId,
        adam_params: {
          learning_rate: learningRate,
          beta1,
          beta2,
          eps,
          weight_decay: weightDecay,
          grad_clip_norm: gradClipNorm,
        },
        type: "optim_step",
      },
    }));
  }

  /** Saves the weights and the optimizer's state under a name, such as `step-3`. Throws `checkpoint-exists` where names are unique. */
  async saveWeights(path: string, options: SaveOptions = {}): Promise<SavedWeights> {
    return (await this.submitSaveWeights(path, options)).result(options);
  }

  /** Sends a request to save the weights. */
  submitSaveWeights(path: string, options: SaveOptions = {}): Promise<TinkerFuture<"saveWeights">> {
    const { ttlSeconds, overwrite } = options;
    return this.#submit("saveWeights", options, (seqId) => ({
      path: "save_weights",
      body: {
        model_id: this.modelId,
        path,
        seq_id: seqId,
        ttl_seconds: ttlSeconds,
        overwrite,
        type: "save_weights",
      },
    }));
  }

  /** Saves the weights for sampling: under a name, or for a new sampling session. */
  async saveWeightsForSampler(options: SaveForSamplerOptions = {}): Promise<SavedForSampler> {
    return (await this.submitSaveWeightsForSampler(options)).result(options);
  }

  /** Sends a request to save the weights for sampling. */
  submitSaveWeightsForSampler(
    options: SaveForSamplerOptions = {},
  ): Promise<TinkerFuture<"saveWeightsForSampler">> {
    const { path, ttlSeconds } = options;
    return this.#submit("saveWeightsForSampler", options, (seqId) => ({
      path: "save_weights_for_sampler",
      body: {
        model_id: this.modelId,
        path,
        sampling_session_seq_id: path === undefined ? this.#samplers.next() : undefined,
        seq_id: seqId,
        ttl_seconds: ttlSeconds,
        type: "save_weights_for_sampler",
      },
    }));
  }

  /**
   * Saves the weights in Hugging Face's formats, for download. Only Tinker's own server; `client.checkpoints.externalUrls` lists
   * the files.
   */
  async saveWeightsExternal(path: string, options: ExternalOptions = {}): Promise<SavedWeights> {
    return (await this.submitSaveWeightsExternal(path, options)).result(options);
  }

  /** Sends a request to save the weights for download. */
  submitSaveWeightsExternal(
    path: string,
    options: ExternalOptions = {},
  ): Promise<TinkerFuture<"saveWeightsExternal">> {
    return this.#submit("saveWeightsExternal", options, (seqId) => ({
      path: "save_weights_external",
      body: {
        model_id: this.modelId,
        path,
        seq_id: seqId,
        ttl_seconds: options.ttlSeconds,
        type: "save_weights_external",
      },
    }));
  }

  /** Saves the current weights for sampling, and returns a sampler that keeps using them. */
  async sampler(options: SequenceOptions = {}): Promise<TinkerSampler> {
    const { path, samplingSessionId } = await this.saveWeightsForSampler(options);
    if (samplingSessionId !== undefined) return new TinkerSampler(this.#transport, { samplingSessionId });
    if (path !== undefined) return new TinkerSampler(this.#transport, { modelPath: path });
    throw new TinkerError("bad-answer", "The server saved the weights, but returned no name to sample from.");
  }

  /** Loads a checkpoint. SkyRL and Tinker allow this as a new model's first request alone. */
  async loadWeights(path: string, options: LoadOptions): Promise<LoadedWeights> {
    return (await this.submitLoadWeights(path, options)).result(options);
  }

  /** Sends a request to load a checkpoint. */
  submitLoadWeights(path: string, options: LoadOptions): Promise<TinkerFuture<"loadWeights">> {
    return this.#submit("loadWeights", options, (seqId) => ({
      path: "load_weights",
      body: {
        model_id: this.modelId,
        path,
        optimizer: options.optimizer,
        seq_id: seqId,
        type: "load_weights",
      },
    }));
  }

  /** What the server knows about the model. SkyRL answers this even for a model that it lost. */
  info(options: RequestOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    const body = { model_id: this.modelId, type: "get_info" };
    return this.#transport.ask("POST", "get_info", body, options);
  }

  /** Frees the model on the server. */
  async unload(options: SubmitOptions = {}): Promise<void> {
    // Hatchery reads the query, the others the body.
    const path = `unload_model?model_id=${encodeURIComponent(this.modelId)}`;
    const body = { model_id: this.modelId, type: "unload_model" };
    const submitted = await this.#transport.submit({ method: "POST", path, body }, options);
    await resultOf(this.#transport, "unloadModel", submitted, options);
  }

  async #pass<Kind extends "forward" | "forwardBackward">(
    kind: Kind,
    data: readonly Datum[],
    loss: LossName,
    options: PassOptions,
  ): Promise<TinkerFuture<Kind>> {
    const ready = readyData(data);
    const forwardOnly = kind === "forward";
    return this.#submit(kind, options, async (seqId) => {
      const wire = await this.#transport.wire(options.signal);
      const pass = {
        modelId: this.modelId,
        seqId,
        data: ready,
        loss,
        config: options.lossConfig,
        forwardOnly,
      };
      if (wire === "json")
        return { path: forwardOnly ? "forward" : "forward_backward", body: passJson(pass) };
      const { body, headers } = await this.#transport.protobuf(passProtobuf(pass));
      return { path: "forward_backward", body, headers };
    });
  }

  /** Sends a request when those before it have been answered. A request that the server refused uses up no number. */
  #submit<Kind extends FutureKind>(
    kind: Kind,
    options: SequenceOptions,
    make: (seqId: number) => ModelRequest | Promise<ModelRequest>,
  ): Promise<TinkerFuture<Kind>> {
    return this.#work.next(options.signal, async () => {
      const { seqId = this.nextSeqId } = options;
      const request = await make(seqId);
      const useUp = () => {
        this.nextSeqId = Math.max(this.nextSeqId, seqId + 1);
      };
      try {
        const submitted = await this.#transport.submit({ method: "POST", ...request }, options);
        useUp();
        return futureOf(this.#transport, kind, submitted, { seqId });
      } catch (error) {
        const isRefused = error instanceof TinkerError && !error.mayHaveRun;
        if (!isRefused) useUp();
        throw error;
      }
    });
  }
}
