/** Token ids, as any sequence of integers. */
export type Tokens = readonly number[] | Int32Array;

/** A part of a model's input that is not plain tokens. */
export type Chunk =
  | { readonly type: "text"; readonly tokens: Tokens }
  | {
      readonly type: "image";
      readonly data: Uint8Array;
      readonly format: "png" | "jpeg";
      /** How many tokens the image becomes. The server refuses the request if this differs from its own count. */
      readonly expectedTokens?: number | undefined;
    };

/** A model's input: tokens, or chunks of tokens and images. */
export type ModelInput = Tokens | readonly Chunk[];

/**
 * A tensor to send. A typed array sends its own type: floats as float32, integers as int64. An array of numbers is int64 under
 * the name `target_tokens` and float32 under every other name. `shape` is needed only if it has not one dimension.
 */
export type TensorInput =
  | readonly number[]
  | Float32Array
  | Float64Array
  | Int32Array
  | BigInt64Array
  | {
      readonly dtype: "float32" | "int64";
      readonly data: readonly number[] | Float32Array | Float64Array | Int32Array | BigInt64Array;
      readonly shape?: readonly number[] | undefined;
    };

/** One example: an input, and the tensors that the loss reads, such as `target_tokens` and `weights`. */
export interface Datum {
  readonly input: ModelInput;
  /** Each tensor's first dimension equals the number of the input's tokens, except that of a scalar (shape `[]`). */
  readonly lossInputs: Readonly<Record<string, TensorInput>>;
}

/** A tensor that the server sent. Integers are always int64, floats always float32. */
export type Tensor =
  | { readonly dtype: "float32"; readonly data: Float32Array; readonly shape: readonly number[] }
  | { readonly dtype: "int64"; readonly data: BigInt64Array; readonly shape: readonly number[] };

/** Losses that servers know. Which ones differs by server, so any other name is possible too. */
export type LossName =
  | "cross_entropy"
  | "importance_sampling"
  | "ppo"
  | "cispo"
  | "gspo"
  | "dro"
  | "custom"
  | (string & {});

/** Settings of a loss, such as `clip_low_threshold`. Only protobuf servers since Tinker's SDK 0.3x take texts. */
export type LossConfig = Readonly<Record<string, number | string>>;

/** The answer to a forward pass, with or without a backward pass. */
export interface ForwardResult {
  /** Named tensors of each datum, in the order of the data. */
  readonly outputs: readonly Readonly<Record<string, Tensor>>[];
  /** The tensor `logprobs` of each datum: the log-probability of each target token. Empty where the server sent none. */
  readonly logprobs: readonly Float32Array[];
  /** The server's numbers, by names like `loss:mean`. */
  readonly metrics: Readonly<Record<string, number>>;
  /** The server's name for the kind of outputs. */
  readonly outputType: string;
}

/** The first half of a loss computed by the caller, which only Hatchery offers. */
export interface CustomForwardResult {
  /** The log-probability of each target token, one array per datum. */
  readonly logprobs: readonly Float32Array[];
  readonly metrics: Readonly<Record<string, number>>;
}

/** The answer to a step of the optimizer, or to the second half of a loss computed by the caller. */
export interface StepResult {
  /** The server's numbers. SkyRL sends `skyrl.ai/grad_norm`, the norm before clipping. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** Settings of AdamW for one step, with Tinker's defaults. */
export interface AdamParams {
  readonly learningRate: number;
  /** Default 0.9. */
  readonly beta1?: number | undefined;
  /** Default 0.95. */
  readonly beta2?: number | undefined;
  /** Default 1e-12. */
  readonly eps?: number | undefined;
  /** Decoupled. Default 0. */
  readonly weightDecay?: number | undefined;
  /** The largest norm of the gradient, 0 for no limit. Default 0. SkyRL 0.4 ignores it silently. */
  readonly gradClipNorm?: number | undefined;
}

/** A checkpoint that was saved. */
export interface SavedWeights {
  /** Its address, such as `tinker://model_1/weights/step-3`. */
  readonly path: string;
}

/** Weights that were saved for sampling. */
export interface SavedForSampler {
  /** Their address, if they were saved under a name. */
  readonly path: string | undefined;
  /** The sampling session that uses them, if they were saved without a name. */
  readonly samplingSessionId: string | undefined;
}

/** Weights that were loaded. */
export interface LoadedWeights {
  readonly path: string | undefined;
}

/** A model that the server created. */
export interface CreatedModel {
  readonly modelId: string;
  /** The name of the base model that the server trains; undefined if it does not report one. */
  readonly baseModel: string | undefined;
}

/** A model that the server unloaded. */
export interface UnloadedModel {
  readonly modelId: string;
}

/** The most likely tokens at one position, most likely first. Undefined where the server computed none. */
export type TopTokens = readonly { readonly token: number; readonly logprob: number }[] | undefined;

/** One sampled sequence. */
export interface SampledSequence {
  readonly tokens: Int32Array;
  /** The log-probability of each token under the distribution that it was drawn from; undefined if the server sent none. */
  readonly logprobs: Float32Array | undefined;
  /** `stop`: a stop token or stop text; `length`: the largest number of tokens. */
  readonly stopReason: "stop" | "length";
  /** The most likely tokens at each position, if they were requested. */
  readonly topTokens: readonly TopTokens[] | undefined;
}

/** The answer to a sampling request. */
export interface SampleResult {
  readonly sequences: readonly SampledSequence[];
  /**
   * The log-probability of each token of the prompt, if it was requested. It has as many entries as the prompt; the first is
   * NaN, because nothing precedes it.
   */
  readonly promptLogprobs: Float32Array | undefined;
  /** The most likely tokens at each position of the prompt, if they were requested. */
  readonly promptTopTokens: readonly TopTokens[] | undefined;
  /** How many tokens of the prompt the server found in its cache. */
  readonly promptCacheHitTokens: number;
}

/** What to sample. */
export interface SampleParams {
  readonly prompt: ModelInput;
  readonly maxTokens: number;
  /** How many sequences. Default 1. */
  readonly samples?: number | undefined;
  /** Default 1. */
  readonly temperature?: number | undefined;
  /** -1 for no limit. Default -1. Hatchery with -1 samples from the top 50. */
  readonly topK?: number | undefined;
  /** Default 1. */
  readonly topP?: number | undefined;
  readonly seed?: number | undefined;
  /** Texts or token ids that end a sequence. An empty list also disables the end-of-sequence token. */
  readonly stop?: string | readonly string[] | readonly number[] | undefined;
  /** Default false. */
  readonly promptLogprobs?: boolean | undefined;
  /** The number of most likely tokens at each position of the prompt. Default 0. */
  readonly promptTopTokens?: number | undefined;
  /** The number of most likely tokens at each sampled position. Default 0. */
  readonly topTokens?: number | undefined;
}

/** Adapter settings of a new model. */
export interface LoraParams {
  readonly rank: number;
  /** Seed of the first weights. Hatchery ignores it. */
  readonly seed?: number | undefined;
  /** SkyRL trains the attention and the MLP whatever these three say. */
  readonly trainAttn?: boolean | undefined;
  readonly trainMlp?: boolean | undefined;
  readonly trainUnembed?: boolean | undefined;
}

/** Options of every call. */
export interface RequestOptions {
  /** Aborts the call, which then rejects with the signal's reason. What the server has begun it may still finish. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for a result, in milliseconds. Without it, the call waits until the server answers. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a call that changes something on the server. */
export interface SubmitOptions extends RequestOptions {
  /**
   * Whether the client may send the request again after its answer was lost. Default: the client's option `deduplicates`.
   * Requests that the server surely did not receive are always sent again.
   */
  readonly repeatable?: boolean | undefined;
  /** The value of the header `X-Idempotency-Key`. Default: a random one, the same for each repetition. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of a call that belongs to a model's sequence. */
export interface SequenceOptions extends SubmitOptions {
  /** The request's number. Default: one more than the model's last request. Servers recognize repeated requests by it. */
  readonly seqId?: number | undefined;
}

/** The results of all requests that the server answers later. */
export interface FutureResults {
  createModel: CreatedModel;
  unloadModel: UnloadedModel;
  forward: ForwardResult;
  forwardBackward: ForwardResult;
  customForward: CustomForwardResult;
  customBackward: StepResult;
  optimStep: StepResult;
  saveWeights: SavedWeights;
  saveWeightsForSampler: SavedForSampler;
  saveWeightsExternal: SavedWeights;
  loadWeights: LoadedWeights;
  createSampler: { readonly samplingSessionId: string };
  createCustomLoss: { readonly lossId: string };
  sample: SampleResult;
}

/** The kinds of requests that the server answers later. */
export type FutureKind = keyof FutureResults;

/** A submitted request as plain JSON, with which any process can wait for its result. */
export interface FutureTicket<Kind extends FutureKind = FutureKind> {
  readonly kind: Kind;
  readonly requestId: string;
  /** The request's number in its model's sequence, if it has one. */
  readonly seqId?: number | undefined;
  /** Number of tokens of the prompt of a sampling request. */
  readonly promptLength?: number | undefined;
}

/** What a sampler samples from. */
export type SamplerTarget =
  | { readonly samplingSessionId: string }
  | { readonly modelPath: string }
  | { readonly baseModel: string };
