import type { ConfigurationProblem } from "./configuration-problem.ts";
import type { FormatName } from "./format-name.ts";
import type { PlacedImage } from "./image-tokens.ts";
import type { JsonObject } from "./json.ts";
import type { Message, ToolDefinition } from "./message.ts";
import type { ReadAction } from "./parsed-action.ts";

/** A text and its token ids. */
export interface TokenizedText {
  text: string;
  tokens: number[];
  /** The images whose tokens are among `tokens`, in their order. Default: none. */
  images?: PlacedImage[];
}

/** Token ids with a mask: 1 where the policy wrote the token (loss), 0 elsewhere. */
export interface MaskedTokens {
  tokens: number[];
  mask: number[];
  /** The images whose tokens are among `tokens`, in their order. Default: none. */
  images?: PlacedImage[];
}

/** The most tokens of a text to keep, and which part to cut if it has more. */
export interface TokenLimit {
  tokens: number;
  cut: "end" | "start" | "middle";
}

/** A text after the cut, and how many of its tokens were removed. */
export interface CutText {
  text: string;
  cut: number;
}

/** How actions are sampled: repetition penalty first, then temperature, top-k, top-p and min-p. */
export interface SamplingParameters {
  /** 0 is greedy. */
  temperature: number;
  /** Keeps the likeliest tokens whose total probability reaches this. */
  topP?: number;
  /** Keeps this number of the likeliest tokens. */
  topK?: number;
  /** Keeps tokens at least this fraction as likely as the likeliest. */
  minP?: number;
  /** Divides the logits of tokens in the context; 1 changes nothing. */
  repetitionPenalty?: number;
  maxTokens: number;
  /**
   * Texts that end an action, in addition to those of the policy's configuration. Their tokens are kept, but the
   * action's text ends before them.
   */
  stop?: string[];
  /** Tokens that end an action, in addition to the policy's own. */
  stopTokens?: number[];
  /** "constrained": once a tool call begins, it can only become one that its tool's schema accepts. Default: "free". */
  toolCalls?: "free" | "constrained";
}

/** Identifies a sample. The same key draws the same tokens, regardless of the rest of the batch. */
export interface SamplingKey {
  seed: number;
  trajectory: string;
  turn: number;
}

/** One action to generate after `tokens` (the whole context) with the weights of `version`. */
export interface GenerationRequest {
  tokens: number[];
  version: number;
  sampling: SamplingParameters;
  key: SamplingKey;
  /** The tools that may be called, for constrained tool calls. */
  tools?: ToolDefinition[];
  /** The images whose tokens are among `tokens`, in their order. Default: none. */
  images?: PlacedImage[];
  /** Returns the bytes of an image by its SHA-256. */
  readImage?: (sha256: string) => Promise<Uint8Array>;
  /**
   * Aborted when nobody waits for the action any more. `generate` then rejects soon with the signal's reason and makes
   * room for other requests.
   */
  signal?: AbortSignal;
  /**
   * Called when the resources that the request waited for (room, memory) are available. If it throws, nothing is
   * generated.
   */
  onBegin?: () => void;
  /**
   * Called from time to time, or after each token, with the action's number of tokens so far, which a live view shows.
   */
  onProgress?: (tokens: number) => void;
}

/** A sampled action, with log-probabilities in nats. */
export interface Generation {
  tokens: number[];
  /** Of each token under the policy itself: temperature 1, the whole vocabulary. */
  logprobs: number[];
  /**
   * Of each token at the sampling temperature, without other restrictions. Training compares the next policy with
   * these. Equal to `logprobs` at temperatures 1 and 0.
   */
  temperedLogprobs: number[];
  /**
   * Of each token under the distribution that it was drawn from, after top-p, a grammar and the like; 0 if it was
   * simply the likeliest. An importance correction divides by these probabilities.
   */
  samplingLogprobs: number[];
  /**
   * For a mixture of experts: near-tie routing choices in the context and in the sampled tokens. Each has three
   * numbers: the token's position in both together, the layer, and the last chosen expert. Trainers that replay them
   * route alike in spite of rounding. Empty or absent for other models, and if unknown.
   */
  routerTies?: number[];
  /** The action's text, without the stop token or stop text. */
  text: string;
  /**
   * The action's thoughts, text and calls, if the policy received them separately, as from an endpoint. Nothing has to
   * be parsed then. Without calls, the text may still contain some.
   */
  read?: ReadAction;
  finishReason: "stop" | "length";
}

/** An open policy in a worker process. It frames text as tokens and generates actions. */
export interface Policy {
  /** Frames the prompt of a trajectory, up to the point where the first action begins. */
  framePrompt(messages: Message[], tools: ToolDefinition[]): TokenizedText;
  /**
   * Frames everything between an action and the next one: tool messages and the template's own text. `callsBefore` is
   * the trajectory's number of calls so far, including those that `messages` answer. Some templates number calls.
   * Default: 0.
   */
  frameObservation(messages: Message[], callsBefore?: number): TokenizedText;
  /** Frames a whole conversation for supervised steps. */
  frameDemonstration(messages: Message[], tools: ToolDefinition[]): MaskedTokens;
  /**
   * Cuts a text to a limit of tokens, and inserts a line that states how many were cut. Absent if the policy's tokens
   * are unknown.
   */
  cutText?(text: string, limit: TokenLimit): CutText;
  /** It reads the images of messages. Other policies receive none. */
  readsImages?: boolean;
  /**
   * Decodes an image, and returns its upright size in pixels, on which its number of tokens depends. It is called before
   * a message with the image is framed. Throws an error that explains why the policy can't read the image. Absent if
   * framing does not depend on images.
   */
  measureImage?:
    | ((sha256: string, read: () => Promise<Uint8Array>) => Promise<{ width: number; height: number }>)
    | undefined;
  /** Whether `generate` has a version's weights now. The question counts as a use of them. */
  isLoaded(version: number): boolean;
  /** Makes a version's weights available to `generate`. Does nothing for a loaded version. */
  load(version: number, folder: string): Promise<void>;
  generate(request: GenerationRequest): Promise<Generation>;
  close(): Promise<void>;
}

/** How a policy turns messages into tokens: everything it offers without its weights. */
export interface PolicyFraming extends Pick<Policy, "framePrompt" | "frameDemonstration" | "cutText"> {
  /** The most tokens that a trajectory may have, including its prompt. */
  contextLength: number;
  /**
   * Describes where its chat template writes different tokens turn by turn than for the whole conversation. Empty if
   * nowhere.
   */
  templateDifferences?(): string[];
  /** The number of its token ids, from 0, and the text of some, with special tokens. Absent if they are unknown. */
  vocabulary?: { size: number; decode(tokens: readonly number[]): string };
  /** The action format in which its chat template writes calls. Absent if it writes none, or in an unknown format. */
  format?: FormatName;
}

/** Properties of a policy's configuration that determine a trainer's settings. */
export interface PolicyTraits {
  /** Whether it starts from the weights of a pretrained model. False for random weights. */
  pretrained: boolean;
  /**
   * The settings that make the sampling distribution differ from the policy's own at the temperature, such as
   * "sampling.topP is 0.95" or "activations is int8". Empty if none do.
   */
  restrictions: string[];
  /** The temperatures at which it can sample. Absent: any. */
  temperatures?: readonly number[];
  /**
   * The format of its frozen quantized weights, over which only adapters can be trained. Absent if they are not
   * quantized.
   */
  quantization?: "int8" | "int4";
  /** The names of the trainers whose versions it can sample. Absent: any. */
  trainers?: readonly string[];
  /** Why it can't be trained. Absent if it can. Such a policy is only for evaluation. */
  untrainable?: string;
  /** It reads the images of messages, so tasks may contain some. */
  readsImages?: boolean;
  /** It samples on a server that may charge for tokens: each action is a request with its whole context. */
  metered?: true;
  /** The only action format in which it can constrain calls to valid ones. Absent if it constrains none. */
  constrainedFormat?: FormatName;
}

/** The properties of a model that determine the memory of its training. */
export interface ModelOutline {
  /** The text of its config.json in Hugging Face's format. */
  config: string;
  /** The format of the matrices in the files of version 0. */
  matrices: "float32" | "float16" | "bfloat16" | "int8" | "int4";
}

/** Memory for sampling from one version of a policy, in bytes. */
export interface SamplingForecast {
  weights: number;
  /** For encoding images. Absent for a model that reads only text. */
  images?: number;
  /** For the keys and values of active sequences: the least that sampling needs, and the most that it uses. */
  keyValues: { least: number; most: number };
}

/** The default export of a policy plugin. */
export interface PolicyPlugin {
  /** Writes version 0 into `folder` in Hugging Face's formats. */
  initialize(folder: string, config: JsonObject, seed: number): Promise<void>;
  /**
   * Opens the policy for generation and tokenization. `folder` holds version 0 (tokenizer, config, and the base weights
   * of the run's adapters) or, for a fork with another policy, that policy. The folder exists until the policy is
   * closed.
   */
  open(folder: string, config: JsonObject): Promise<Policy>;
  /**
   * Checks what a schema can't express, before a run. Throws if this machine lacks something that the configuration
   * needs.
   */
  check?(config: JsonObject): ConfigurationProblem[] | Promise<ConfigurationProblem[]>;
  /**
   * Returns how the policy frames text, so that Everturn can count tokens before a run. Uses the configuration, or the
   * `folder` of a version if given. Returns undefined if the configuration names a model that must be downloaded first.
   * Default: nothing is counted.
   */
  framing?(config: JsonObject, folder?: string): Promise<PolicyFraming | undefined>;
  /**
   * Describes the configured model, so that Everturn can forecast the memory of sampling and updates before a run.
   * Returns undefined if the model must be downloaded first. Default: no forecast.
   */
  outline?(config: JsonObject): Promise<ModelOutline | undefined>;
  /** Forecasts the memory of sampling from that model. Returns undefined if unknown. Default: no forecast. */
  forecast?(config: JsonObject, model: ModelOutline): SamplingForecast | undefined;
  /** Returns the properties of a configuration that trainers need. Default: a pretrained model without restrictions. */
  traits?(config: JsonObject): PolicyTraits;
}
