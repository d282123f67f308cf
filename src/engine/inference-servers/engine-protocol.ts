import type { SamplingParameters } from "../../contracts/policy.ts";

/** Asks one replica: the body of its answer. Throws ENGINE_FAILED, ENGINE_REFUSED, and the signal's reason. */
export type Ask = (method: "GET" | "POST", path: string, body?: unknown) => Promise<unknown>;

/** What an engine is to write. */
export interface EngineAction {
  tokens: readonly number[];
  sampling: SamplingParameters;
  /** Tokens that end the action. */
  stopTokens: readonly number[];
  /** Names it, and no other attempt at it. */
  id: string;
  /** The same draws the same, as far as the engine can. */
  seed: number;
  /** The adapter to write with, by the name that it was loaded under. */
  adapter?: string | undefined;
}

/** What an engine wrote. */
export interface EngineAnswer {
  tokens: number[];
  /** Nats, of each token. */
  logprobs: number[];
  /** "abort": the engine ended it before its time. */
  finish: "stop" | "length" | "abort";
  /** The labels of the weights that wrote it, in order; undefined if the engine doesn't say. */
  labels?: string[] | undefined;
}

/** How an engine is spoken with. */
export interface EngineProtocol {
  /** As its users call it. */
  name: string;
  /** Answers 200 as long as the engine is well. */
  health: string;
  generate(ask: Ask, action: EngineAction): Promise<EngineAnswer>;
  /** The label of the weights that it has; undefined if it doesn't say. */
  label(ask: Ask): Promise<string | undefined>;
  /** Reads weights from a folder in place of those that it has. Nothing is being written meanwhile. */
  loadWeights(ask: Ask, folder: string, label: string): Promise<void>;
  /** Loads a LoRA adapter beside the others; one of the same name that it has already is fine. */
  loadAdapter(ask: Ask, folder: string, name: string): Promise<void>;
  unloadAdapter(ask: Ask, name: string): Promise<void>;
}
