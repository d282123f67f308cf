import type { SamplingParameters } from "../../contracts/policy.ts";

/**
 * Sends a request to one replica and returns the body of its answer. Throws ENGINE_FAILED, ENGINE_REFUSED, and the
 * signal's reason.
 */
export type Ask = (method: "GET" | "POST", path: string, body?: unknown) => Promise<unknown>;

/** An action for an inference server to generate. */
export interface EngineAction {
  tokens: readonly number[];
  sampling: SamplingParameters;
  /** Tokens that end the action. */
  stopTokens: readonly number[];
  /** Identifies this attempt at the action. */
  id: string;
  /** The same seed draws the same tokens, as far as the server can. */
  seed: number;
  /** The name of the loaded adapter to generate with. */
  adapter?: string | undefined;
}

/** An action that an inference server generated. */
export interface EngineAnswer {
  tokens: number[];
  /** Nats, for each token. */
  logprobs: number[];
  /** "abort": the server ended it early. */
  finish: "stop" | "length" | "abort";
  /** The labels of the weights that generated it, in order; undefined if the server does not report them. */
  labels?: string[] | undefined;
}

/** How to talk to an inference server. */
export interface EngineProtocol {
  /** The product's name. */
  name: string;
  /** The path that answers 200 while the server is healthy. */
  health: string;
  generate(ask: Ask, action: EngineAction): Promise<EngineAnswer>;
  /** Returns the label of the server's weights; undefined if it does not report one. */
  label(ask: Ask): Promise<string | undefined>;
  /** Replaces the server's weights by those in a folder. No generation is active meanwhile. */
  loadWeights(ask: Ask, folder: string, label: string): Promise<void>;
  /** Loads a LoRA adapter in addition to the others. The server may already have one with that name. */
  loadAdapter(ask: Ask, folder: string, name: string): Promise<void>;
  unloadAdapter(ask: Ask, name: string): Promise<void>;
}
