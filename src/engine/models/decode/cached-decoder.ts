import type { RouterTies } from "../../../contracts/router-ties.ts";
import type { Activations } from "../../onnx/quantized-products.ts";
import type { Target } from "../../onnx/target.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { Tensor } from "../weights/safetensors.ts";
import type { AdapterShape } from "./decoding-model.ts";
import type { KeyValueMemory } from "./key-value-memory.ts";
import type { KeyValues } from "./key-values.ts";

/** What the rows have seen already: room for `capacity` positions each, of which row i uses the first lengths[i]. */
export interface Past extends KeyValues {
  capacity: number;
  lengths: readonly number[];
}

/** One run: the new tokens of each row (at least one), which come after those in `past`. */
export interface DecoderRun {
  tokens: readonly (readonly number[])[];
  /** Has room for the new tokens, padded; their keys and values are written there. */
  past: Past;
  /** Each row is padded to this many new tokens; default: those of the longest. */
  length?: number;
  /** Whether each row's tokens are whole blocks of a prompt, of 64 tokens from its start on, and nothing is wanted of them but keys and values. Default false. */
  isWhole?: boolean;
  /** A LoRA adapter's matrices by name, if the decoder was made for one. */
  adapter?: ReadonlyMap<string, Tensor>;
  /** 1 / temperature of each row, for `weights`; default 1. */
  inverseTemperatures?: Float32Array;
  /** What to give; fetching it from a card costs time by the byte. Default: the logits. */
  wanted?: readonly NextTokenOutput[];
}

/**
 * "logits" and "weights" are [rows, vocabulary]; "choice" is each row's likeliest token and its probability; "draw" is what
 * tokens are drawn by: the decoder's own way where it has one, else the weights.
 */
export type NextTokenOutput = "choice" | "logits" | "weights" | "draw";

/** The likeliest token, and its probability. */
export interface Choice {
  token: number;
  probability: number;
}

/** A token that was drawn, with its weight, the largest one, and the sum of all. */
export interface Drawn {
  token: number;
  weight: number;
  largest: number;
  total: number;
}

/** What was wanted about the next token of each row. To be read before the next run, which may use its memory. */
export interface NextTokens {
  choice(row: number): Choice;
  logits: Float32Array;
  /** Probabilities at the row's temperature. */
  weights: Float32Array;
  /** Of each row, those of its new tokens, by their places among them; none of a decoder that doesn't tell them. */
  ties?: readonly RouterTies[];
  /** Inverts the cumulative distribution of a row's weights at a number in [0, 1), where that costs less than to have them all. */
  draw?: (row: number, uniform: number) => Drawn;
}

/** How much is read in one run. */
export interface ReadLimits {
  /** Tokens of one prompt. */
  readonly ofPrompt: number;
  /** Tokens of all prompts, with what they are padded with. */
  readonly atOnce: number;
  /** Scores of a layer's attention, where they are all in memory at once. */
  readonly scores: number;
}

/** A decoder that reads new tokens after remembered ones. */
export interface CachedDecoder {
  readonly config: ModelConfig;
  /** Capacities of remembered positions must be a multiple of this, so that rounding doesn't depend on them. */
  readonly capacityStep: number;
  /** Runs of so many rows, or a multiple of it, cost less to ask for than others: rows may be added that nobody reads. */
  readonly rowStep: number;
  /** Whether a row's numbers are the same, to the last bit, however its tokens are divided into runs. */
  readonly isSplitInvariant: boolean;
  /** Whether whole blocks of prompts, all before what is left of them, are read otherwise and faster: by runs of their own. */
  readonly readsBlocksApart: boolean;
  /** Whether runs touch no more of `past` than the positions that rows have: then room beyond costs nothing. */
  readonly isSparse: boolean;
  /** How much of prompts is read in one run. */
  readonly reads: ReadLimits;
  /** What `past` lies in. */
  readonly keyValues: KeyValueMemory;
  /** One run at a time: what it gives, and what it works in, belongs to the next one then. */
  run(request: DecoderRun): Promise<NextTokens>;
  /** Waits for a run that is under way. */
  close(): Promise<void>;
}

/** How a decoder is made. */
export interface DecoderOptions {
  threads: number;
  /** Default: float32 on the CPU. */
  target?: Target;
  adapter?: AdapterShape;
  /** What rows are as quantized matrices are multiplied by them. Default "float32". */
  activations?: Activations;
  /** Has keys and values kept as int8, their scales as measured while these tokens are read; default: as float32. */
  roundedBy?: readonly number[];
}
