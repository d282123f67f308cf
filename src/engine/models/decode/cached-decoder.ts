import type { ImageEmbeddings } from "../../../contracts/image-tokens.ts";
import type { RouterTies } from "../../../contracts/router-ties.ts";
import type { Activations } from "../../onnx/quantized-products.ts";
import type { Target } from "../../onnx/target.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { TokenPosition } from "../config/token-positions.ts";
import type { Tensor } from "../weights/safetensors.ts";
import type { AdapterShape } from "./decoding-model.ts";
import type { KeyValueMemory } from "./key-value-memory.ts";
import type { KeyValues } from "./key-values.ts";

/** Earlier positions of the rows. Each row has room for `capacity` positions, and row i uses the first lengths[i]. */
export interface Past extends KeyValues {
  capacity: number;
  lengths: readonly number[];
}

/** One pass: the new tokens of each row (at least one), which follow those in `past`. */
export interface DecoderPass {
  tokens: readonly (readonly number[])[];
  /** Has room for the new tokens, padded. Their keys and values are written there. */
  past: Past;
  /** The number of new tokens that each row is padded to. Default: that of the longest. */
  length?: number;
  /**
   * Whether each row's tokens are whole blocks of a prompt, of 64 tokens from its start on, and only their keys and
   * values are needed. Default: false.
   */
  isWhole?: boolean;
  /** A LoRA adapter's matrices by name, if the decoder was created for one. */
  adapter?: ReadonlyMap<string, Tensor>;
  /** The embeddings of tokens whose ids are not in the vocabulary. */
  embeddings?: ImageEmbeddings;
  /** The positions of each row's new tokens, for a model that rotates by three axes. */
  positions?: readonly (readonly TokenPosition[])[];
  /** 1 / temperature of each row, for `weights`. Default: 1. */
  inverseTemperatures?: Float32Array;
  /** The outputs to return. Fetching them from a card takes time per byte. Default: the logits. */
  wanted?: readonly NextTokenOutput[];
}

/**
 * "logits" and "weights" are [rows, vocabulary]. "choice" is each row's likeliest token and its probability. "draw"
 * provides the data for drawing tokens: the decoder's own way if it has one, otherwise the weights.
 */
export type NextTokenOutput = "choice" | "logits" | "weights" | "draw";

/** The likeliest token, and its probability. */
export interface Choice {
  token: number;
  probability: number;
}

/** A drawn token with its weight, the largest weight, and the sum of all. */
export interface Drawn {
  token: number;
  weight: number;
  largest: number;
  total: number;
}

/**
 * The requested outputs for the next token of each row. Read them before the next pass, which may reuse their memory.
 */
export interface NextTokens {
  choice(row: number): Choice;
  logits: Float32Array;
  /** Probabilities at the row's temperature. */
  weights: Float32Array;
  /**
   * For each row, the ties of its new tokens, by their place among them. Absent if the decoder does not report them.
   */
  ties?: readonly RouterTies[];
  /**
   * Inverts the cumulative distribution of a row's weights at a number in [0, 1). Present if that costs less than
   * fetching all weights.
   */
  draw?: (row: number, uniform: number) => Drawn;
}

/** How much one pass reads. */
export interface ReadLimits {
  /** Most tokens of one prompt. */
  readonly ofPrompt: number;
  /** Most tokens of all prompts, including padding. */
  readonly atOnce: number;
  /** Most scores of a layer's attention that are in memory at the same time. */
  readonly scores: number;
}

/** A decoder that reads new tokens after cached ones. */
export interface CachedDecoder {
  readonly config: ModelConfig;
  /** Capacities of caches must be multiples of this, so that rounding doesn't depend on them. */
  readonly capacityStep: number;
  /** Passes whose number of rows is a multiple of this cost less. Unused rows may be added. */
  readonly rowStep: number;
  /** Whether a row's numbers are identical to the last bit however its tokens are split into passes. */
  readonly isSplitInvariant: boolean;
  /** Whether whole blocks at the start of prompts are read differently and faster, in separate passes. */
  readonly readsBlocksApart: boolean;
  /** Whether passes touch only the positions of `past` that rows have. Then unused room costs nothing. */
  readonly isSparse: boolean;
  /** How much of prompts one pass reads. */
  readonly reads: ReadLimits;
  /** The memory of `past`. */
  readonly keyValues: KeyValueMemory;
  /** Runs one pass at a time. The next pass reuses the memory of its inputs and outputs. */
  run(request: DecoderPass): Promise<NextTokens>;
  /** Waits for the current pass. */
  close(): Promise<void>;
}

/** The options of a decoder. */
export interface DecoderOptions {
  threads: number;
  /** Default: float32 on the CPU. */
  target?: Target;
  adapter?: AdapterShape;
  /** The type that rows are converted to for products with quantized matrices. Default: "float32". */
  activations?: Activations;
  /** Keeps keys and values as int8, with scales measured while reading these tokens. Default: float32. */
  roundedBy?: readonly number[];
}
