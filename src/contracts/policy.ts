import type { ConfigurationProblem } from "./configuration-problem.ts";
import type { FormatName } from "./format-name.ts";
import type { JsonObject } from "./json.ts";
import type { Message, ToolDefinition } from "./message.ts";
import type { ReadAction } from "./parsed-action.ts";

/** A text and its token ids. */
export interface TokenizedText {
  text: string;
  tokens: number[];
}

/** Token ids with a mask: 1 where the policy wrote the token (loss), 0 elsewhere. */
export interface MaskedTokens {
  tokens: number[];
  mask: number[];
}

/** How many tokens of a text stay, and which part goes if there are more. */
export interface TokenLimit {
  tokens: number;
  cut: "end" | "start" | "middle";
}

/** A text, or what is left of it; and how many of its tokens were cut. */
export interface CutText {
  text: string;
  cut: number;
}

/** How actions are drawn: the repetition penalty first, then temperature, top-k, top-p, min-p. */
export interface SamplingParameters {
  /** 0 is greedy. */
  temperature: number;
  /** Keeps the likeliest tokens whose probability reaches this. */
  topP?: number;
  /** Keeps so many of the likeliest tokens. */
  topK?: number;
  /** Keeps tokens at least this times as likely as the likeliest. */
  minP?: number;
  /** Divides the logits of tokens that the context holds; 1 changes nothing. */
  repetitionPenalty?: number;
  maxTokens: number;
  /** Texts that end an action, beside those of the policy's own configuration. Their tokens stay, the action's text ends before them. */
  stop?: string[];
  /** Tokens that end an action, beside the policy's own. */
  stopTokens?: number[];
  /** "constrained": a tool call, once it begins, can only become one that its tool's schema accepts. Default "free". */
  toolCalls?: "free" | "constrained";
}

/** Names a sample: the same key draws the same tokens, whatever else is in the batch. */
export interface SamplingKey {
  seed: number;
  trajectory: string;
  turn: number;
}

/** One action to generate after `tokens` (the whole context), with the weights of `version`. */
export interface GenerationRequest {
  tokens: number[];
  version: number;
  sampling: SamplingParameters;
  key: SamplingKey;
  /** The tools that may be called, for constrained tool calls. */
  tools?: ToolDefinition[];
  /** The bytes of an image of a message, by its SHA-256. */
  readImage?: (sha256: string) => Promise<Uint8Array>;
  /** Aborted, nobody waits for the action any more: `generate` rejects with its reason soon, and makes room for others. */
  signal?: AbortSignal;
  /** To be called once what the request waited for (room, memory) is there; if it throws, nothing is generated. */
  onBegin?: () => void;
  /** To be told now and then, or after each token, how many tokens the action has so far: whoever watches the run sees it. */
  onProgress?: (tokens: number) => void;
}

/** A sampled action, with log-probabilities in nats. */
export interface Generation {
  tokens: number[];
  /** Of each token under the policy itself: temperature 1, the whole vocabulary. */
  logprobs: number[];
  /**
   * The same at the sampling temperature, whatever else restricted the draw: what training compares the next policy
   * with. As `logprobs` at temperatures 1 and 0.
   */
  temperedLogprobs: number[];
  /**
   * Of each token under the distribution it was drawn from, after top-p, a grammar and the like; 0 if it was simply the
   * likeliest. What an importance correction divides by.
   */
  samplingLogprobs: number[];
  /**
   * Of a mixture of experts: near-tie routing choices, in the context and in the sampled tokens. Three numbers each:
   * the token's position in both together, the layer, and the last expert that was chosen. Trainers that hold to them
   * don't choose otherwise for want of a last digit. Empty or absent of other models, and where it isn't known.
   */
  routerTies?: number[];
  /** The action's text, without the stop token or stop text. */
  text: string;
  /**
   * What is thought, said and called, where the policy is told it apart, as by an endpoint: nothing has to be found in the text. Without calls,
   * the text of what is said may hold some.
   */
  read?: ReadAction;
  finishReason: "stop" | "length";
}

/** A policy at work in a worker process: frames text as tokens and generates. */
export interface Policy {
  /** The prompt of a trajectory, up to the point where the first action begins. */
  framePrompt(messages: Message[], tools: ToolDefinition[]): TokenizedText;
  /**
   * What stands between an action and the next one: tool messages and the template's own text. `callsBefore` counts the
   * trajectory's calls so far, those that `messages` answer among them: some templates number them. Default: 0.
   */
  frameObservation(messages: Message[], callsBefore?: number): TokenizedText;
  /** A whole conversation, for supervised steps. */
  frameDemonstration(messages: Message[], tools: ToolDefinition[]): MaskedTokens;
  /** A text within a limit of tokens, and a line in it that says how many were cut. Absent if its tokens are not known. */
  cutText?(text: string, limit: TokenLimit): CutText;
  /** It reads the images of messages; others are given none. */
  readsImages?: boolean;
  /** Whether `generate` has a version's weights now. Asking for it counts as use. */
  isLoaded(version: number): boolean;
  /** Makes a version's weights available to `generate`; a version that is loaded already costs nothing. */
  load(version: number, folder: string): Promise<void>;
  generate(request: GenerationRequest): Promise<Generation>;
  close(): Promise<void>;
}

/** How a policy turns messages into tokens: all that can be asked of it without its weights. */
export interface PolicyFraming extends Pick<Policy, "framePrompt" | "frameDemonstration" | "cutText"> {
  /** Tokens that a trajectory may have, its prompt included. */
  contextLength: number;
  /** Where its chat template, turn by turn, writes other tokens than as a whole, in words; empty if nowhere. */
  templateDifferences?(): string[];
  /** The action format in which its chat template writes calls; absent if it writes none, or in no format that is known. */
  format?: FormatName;
}

/** What a trainer's settings depend on of a policy's configuration. */
export interface PolicyTraits {
  /** Whether it starts from the weights of a pretrained model, not from random ones. */
  pretrained: boolean;
  /**
   * The settings under which actions are drawn from another distribution than the policy's own at the temperature,
   * such as "sampling.topP is 0.95" or "activations is int8"; empty if they never are.
   */
  restrictions: string[];
  /** The temperatures that it can draw actions at; absent where any will do. */
  temperatures?: readonly number[];
  /** The few bits that its weights are frozen in, so that only adapters over them can be trained; absent where they aren't. */
  quantization?: "int8" | "int4";
  /** Why it can't be trained; absent if it can. Such a policy is for evaluation. */
  untrainable?: string;
  /** It reads the images of messages: tasks may show some. */
  readsImages?: boolean;
  /** The one action format whose calls it constrains to what is valid; absent where it constrains none. */
  constrainedFormat?: FormatName;
}

/** What says of a model how much memory its training takes. */
export interface ModelOutline {
  /** The text of its config.json, in Hugging Face's terms. */
  config: string;
  /** What the files of version 0 have its matrices as. */
  matrices: "float32" | "float16" | "bfloat16" | "int8" | "int4";
}

/** What sampling from one version of a policy holds, bytes. */
export interface SamplingForecast {
  weights: number;
  /** Of the sequences under way: with less than `least` nothing is sampled, more than `most` isn't taken. */
  keyValues: { least: number; most: number };
}

/** The default export of a policy plugin. */
export interface PolicyPlugin {
  /** Writes version 0 into `folder` in Hugging Face's formats. */
  initialize(folder: string, config: JsonObject, seed: number): Promise<void>;
  /**
   * Opens the policy for generation and tokenization. `folder` holds version 0 (tokenizer, config, the weights that the run's
   * adapters are for) or, for a fork with another policy, that one. It stays until the policy is closed.
   */
  open(folder: string, config: JsonObject): Promise<Policy>;
  /** What no schema can say of a configuration, asked before a run. Throws what this machine lacks for it. */
  check?(config: JsonObject): ConfigurationProblem[] | Promise<ConfigurationProblem[]>;
  /**
   * How the policy frames text, asked before a run to count its tokens: from the configuration, or from the `folder` of
   * a version where there is one. Undefined if the configuration names what must be downloaded first. Default: nothing is
   * counted.
   */
  framing?(config: JsonObject, folder?: string): Promise<PolicyFraming | undefined>;
  /** Of the model that it names, asked before a run, to say what sampling and updates will hold; undefined if it must be downloaded first. Default: nothing is said. */
  outline?(config: JsonObject): Promise<ModelOutline | undefined>;
  /** What sampling from that model will hold; undefined if it can't say. Default: nothing is said. */
  forecast?(config: JsonObject, model: ModelOutline): SamplingForecast | undefined;
  /** What the trainer should know of a configuration. Default: a pretrained model, without restrictions. */
  traits?(config: JsonObject): PolicyTraits;
}
