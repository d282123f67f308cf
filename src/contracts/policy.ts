import type { JsonObject } from "./json.ts";
import type { Message, ToolDefinition } from "./message.ts";

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

/** How actions are drawn. `temperature` 0 is greedy. */
export interface SamplingParameters {
  temperature: number;
  topP?: number;
  topK?: number;
  maxTokens: number;
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
  signal?: AbortSignal;
}

/** A sampled action. `logprobs[i]` is the log-probability (nats, temperature 1) of `tokens[i]`. */
export interface Generation {
  tokens: number[];
  logprobs: number[];
  /** The action's text, without the stop token. */
  text: string;
  finishReason: "stop" | "length";
}

/** A policy at work in a worker process: frames text as tokens and generates. */
export interface Policy {
  /** The prompt of a trajectory, up to the point where the first action begins. */
  framePrompt(messages: Message[], tools: ToolDefinition[]): TokenizedText;
  /** What stands between an action and the next one: tool messages and the template's own text. */
  frameObservation(messages: Message[]): TokenizedText;
  /** A whole conversation, for supervised steps. */
  frameDemonstration(messages: Message[], tools: ToolDefinition[]): MaskedTokens;
  /** Makes a version's weights available to `generate`; a version that is loaded already costs nothing. */
  load(version: number, folder: string): Promise<void>;
  generate(request: GenerationRequest): Promise<Generation>;
  close(): Promise<void>;
}

/** The default export of a policy plugin. */
export interface PolicyPlugin {
  /** Writes version 0 into `folder` in Hugging Face's formats. */
  initialize(folder: string, config: JsonObject, seed: number): Promise<void>;
  /** Opens the policy for generation and tokenization; `folder` holds any version (its tokenizer and config). */
  open(folder: string, config: JsonObject): Promise<Policy>;
}
