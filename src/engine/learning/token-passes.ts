import type { ModelConfig } from "../models/config/model-config.ts";
import { type AttentionForm, hasPrefix } from "../models/graph/decoder.ts";
import { suitsOperator } from "../models/graph/whole-attention.ts";
import { tileSize } from "../onnx/tiled-attention.ts";
import { commonPrefix, createRowNumbers, lossLength, type TokenSequence } from "./batch.ts";
import { byGroup } from "./group-advantages.ts";

/** The limits of a pass through a model. */
export interface PassLimits {
  /** Most tokens. A common beginning counts once. Its other places count an eighth, like padding. */
  tokens: number;
  /** Most pairs of tokens that attention scores in vain because at least one of them is padding. */
  padding: number;
  /** Additional such pairs for each token that samples share, so that it isn't computed in several passes. */
  paddingPerShared: number;
}

/** The share of a token's memory that attention's own tensors take for each place of each sequence. */
const partOfPlace = 1 / 8;

/**
 * Returns the limits for a model. Padding may cost about as much as another pass (measured at 0.1 and 6 million
 * weights), or as much as sharing saves.
 */
export function passLimits(config: ModelConfig, tokens: number): PassLimits {
  return {
    tokens,
    padding: 32 * config.hidden_size * config.head_dim,
    paddingPerShared: pairsOfToken(config),
  };
}

/** Returns the number of pairs whose attention takes as many products as the rest of a token. */
function pairsOfToken(config: ModelConfig): number {
  const { hidden_size, head_dim, num_attention_heads, num_key_value_heads, intermediate_size } = config;
  const queries = num_attention_heads * head_dim;
  const keys = num_key_value_heads * head_dim;
  const layer = hidden_size * (2 * queries + 2 * keys + 3 * intermediate_size);
  // A token takes one product per weight of a layer. A pair takes one per number of a query and one per number of a
  // value.
  return layer / (2 * queries);
}

/**
 * Splits samples, each of one or more sequences, into passes within the limits. Returns the numbers of the samples of
 * each pass. A sample that exceeds the limits by itself gets its own pass. Samples of one prompt stay together if a
 * pass can hold them, because their common beginning is computed once per pass. Otherwise samples of similar lengths
 * share passes, the longest first. Deterministic.
 */
export function tokenPasses(samples: readonly (readonly TokenSequence[])[], limits: PassLimits): number[][] {
  const longest = samples.map(longestLength);
  const prompts = samples.map(([first]) => promptOf(first));
  const longestFirst = (a = 0, b = 0) => longest[b]! - longest[a]!;
  const groups = [...byGroup([...samples.keys()], prompts).values()]
    .map((group) => group.sort(longestFirst))
    .sort(([a], [b]) => longestFirst(a, b));
  const sequencesOf = (indexes: readonly number[]) => indexes.flatMap((index) => samples[index]!);
  const passOf = (indexes: readonly number[]) => {
    const pass = createPass(longest[indexes[0]!]!, limits);
    pass.add(sequencesOf(indexes));
    return pass;
  };
  const whole = (group: readonly number[]) => group.length === 1 || passOf(group).isWithin();
  const parts = groups.flatMap((group) => (whole(group) ? [group] : group.map((index) => [index])));
  const passes: number[][] = [];
  let pass: ReturnType<typeof createPass> | undefined;
  for (const part of parts) {
    pass?.add(sequencesOf(part));
    if (!pass?.isWithin()) {
      pass = passOf(part);
      passes.push([]);
    }
    passes.at(-1)!.push(...part);
  }
  return passes;
}

/** Tracks the size of a pass of sequences, none longer than `length`. */
function createPass(length: number, { tokens, padding, paddingPerShared }: PassLimits) {
  const numbers = createRowNumbers();
  let [places, apart, padded] = [0, 0, 0];
  return {
    /** Adds sequences that would otherwise have their own pass. */
    add(sequences: readonly TokenSequence[]) {
      apart += rowCount(sequences);
      for (const sequence of sequences) {
        numbers.add(sequence);
        places += length;
        padded += length ** 2 - lossLength(sequence) ** 2;
      }
    },
    isWithin() {
      const rows = numbers.count();
      const isShort = rows + partOfPlace * (places - rows) <= tokens;
      return isShort && padded <= padding + paddingPerShared * (apart - rows);
    },
  };
}

/** Returns the number of tokens that a pass over sequences computes. Common beginnings count once. */
export function rowCount(sequences: readonly TokenSequence[]): number {
  const numbers = createRowNumbers();
  for (const sequence of sequences) numbers.add(sequence);
  return numbers.count();
}

/** Returns the tokens before the first action, as text. */
export function promptOf(sequence: TokenSequence | undefined): string {
  return sequence?.tokens.slice(0, sequence.mask.indexOf(1)).join() ?? "";
}

/**
 * How much longer attention takes than other products with as many numbers (measured at SmolLM2-135M's and
 * Qwen2.5-0.5B's shapes).
 */
const slownessOfAttention = 2.5;

/** Returns the approximate cost of a pass on the CPU, in tokens: computed tokens and attention. */
export function passEffort(sequences: readonly TokenSequence[], config: ModelConfig): number {
  const longest = longestLength(sequences);
  const prefix = wantedPrefix(sequences, config);
  const pairs = prefix ** 2 + sequences.length * (longest - prefix) * longest;
  return rowCount(sequences) + (slownessOfAttention * pairs) / pairsOfToken(config);
}

/** The longest sequences whose attention weights are kept, and the longest that are attended to in one piece. */
const [longestKept, longestWhole] = [512, 1024];

/**
 * Returns the form of attention on the CPU for each pass over sequences. Weights grow with the square of the length,
 * and tiles cost time if there are few. The passes of an update keep all weights or none, because each form is a
 * separate graph.
 */
export function attentionForms(
  passes: readonly (readonly TokenSequence[])[],
  config: ModelConfig,
): AttentionForm[] {
  const isMadeAgain = Math.max(...passes.map(longestLength)) > longestKept;
  const madeAgain = { tiled: "tiled", prefixed: "prefixedAgain", kept: "again" } as const;
  return passes.map((sequences) => {
    const form = scoringForm(sequences, config);
    return isMadeAgain ? madeAgain[form] : form;
  });
}

/** Returns the form of attention on the CPU for a pass without gradients, which recomputes nothing. */
export function scoringForm(
  sequences: readonly TokenSequence[],
  config: ModelConfig,
): "tiled" | "prefixed" | "kept" {
  if (longestLength(sequences) > longestWhole) return "tiled";
  return wantedPrefix(sequences, config) > 0 ? "prefixed" : "kept";
}

/** Returns the number of tokens that a pass with this form keeps separate, because attention processes them once. */
export function prefixLength(form: AttentionForm, sequences: readonly TokenSequence[]): number {
  return hasPrefix(form) ? commonPrefix(sequences) : 0;
}

/**
 * The least share of the longest sequence that the common beginning must have. The tokens after it use operators that
 * are half as fast as the one for whole sequences.
 */
const leastPrefix = 1 / 2;

/** Returns the number of tokens that a pass should keep separate; 0 if there are too few. */
function wantedPrefix(sequences: readonly TokenSequence[], config: ModelConfig): number {
  if (sequences.length < 2 || !suitsOperator(config)) return 0;
  const prefix = commonPrefix(sequences);
  return prefix >= leastPrefix * longestLength(sequences) ? prefix : 0;
}

/** Returns the number to whose multiples attention of this form pads sequences. */
export function lengthStep(form: AttentionForm): number {
  return form === "tiled" ? tileSize : 1;
}

function longestLength(sequences: readonly TokenSequence[]): number {
  return Math.max(0, ...sequences.map(lossLength));
}
