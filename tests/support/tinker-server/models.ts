import { createHash } from "node:crypto";
import type { ServedPass } from "./wire.ts";

/** Weights as the list of what made them: equal histories mean bit-equal weights and optimizer states. */
export type History = readonly string[];

/** A checkpoint on the server. */
export interface ServedCheckpoint {
  modelId: string;
  name: string;
  history: History;
  /** The number of the last future when it was saved (TuFT). */
  order: number;
}

/** A model on the server. */
export class ServedModel {
  readonly id: string;
  readonly baseModel: string;
  history: History = [];
  /** The gradients since the last optimizer step. */
  gradients: string[] = [];
  /** Whether a process holds its weights (SkyRL). */
  isLoaded = true;
  /** The checkpoint of its own that was loaded for sampling (SkyRL). */
  sampledName: string | undefined;
  /** How many requests it got. */
  requests = 0;
  /** How many optimizer steps it made since it was created. */
  steps = 0;
  /** Its first checkpoint (Hatchery). */
  firstSaved: { history: History; steps: number } | undefined;
  /** The passes whose gradients are still to come, by the caller's ids (Hatchery). */
  readonly custom = new Map<string, ServedPass>();
  /** The next number, and one that failed (TuFT). */
  nextSeqId = 1;
  failedSeqId: number | undefined;

  constructor(id: string, baseModel: string, seed: unknown) {
    this.id = id;
    this.baseModel = baseModel;
    this.history = [`initial ${baseModel} ${seed}`];
  }

  /** Adds a gradient, which is named by its pass. */
  accumulate(pass: ServedPass): void {
    this.gradients.push(digest(pass));
  }

  /** Applies the gradients. Returns the server's numbers. */
  step(params: unknown): Record<string, number> {
    this.history = [...this.history, digest([this.gradients, params])];
    this.gradients = [];
    this.steps += 1;
    return {};
  }

  /** The log-probability of each target token: any numbers that follow from the weights and the tokens before it. */
  logprobs(pass: ServedPass): number[][] {
    const weights = seedOf(this.history);
    return pass.data.map(({ tokens, inputs }) => {
      let state = weights;
      return tokens.map((token, position) => {
        state = mixed(state, token);
        return -0.5 - mixed(state, inputs.target_tokens?.[position] ?? token) / 2 ** 32;
      });
    });
  }
}

/** A request for sequences. */
export interface SampleRequest {
  prompt: readonly number[];
  seed: number | undefined;
  temperature: number;
  maxTokens: number;
  /** Tokens that end a sequence. */
  stop: readonly number[];
}

/** A sampled sequence. */
export interface ServedSequence {
  tokens: number[];
  logprobs: number[];
  stop_reason: "stop" | "length";
}

/** Draws the sequence with an index. The same arguments give the same tokens. */
export type SamplesFrom = (history: History, request: SampleRequest, index: number) => ServedSequence;

/** Draws tokens without arithmetic, which follow from weights, prompt, seed and index. */
export const sampled: SamplesFrom = (history, request, index) => {
  const cells = drawnNumbers(history, request, index);
  return {
    tokens: cells.map((cell) => 1 + Math.floor(cell * 300)),
    logprobs: cells.map((cell) => -0.5 - cell),
    stop_reason: "length",
  };
};

/** Numbers between 0 and 1, one for each token of a sequence. As on SkyRL, sequences of a request have consecutive seeds. */
export function drawnNumbers(
  history: History,
  { prompt, seed = 0, maxTokens }: SampleRequest,
  index: number,
): number[] {
  const start = seedOf([history, prompt, seed + index]);
  return Array.from({ length: maxTokens }, (_, at) => mixed(start, at) / 2 ** 32);
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

function seedOf(value: unknown): number {
  return Number.parseInt(digest(value).slice(0, 8), 16);
}

/** A 32-bit number that looks random, from two others (MurmurHash3's finalizer). */
function mixed(state: number, value: number): number {
  let mix = Math.imul(state ^ Math.imul(value + 1, 0x9e3779b1), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
