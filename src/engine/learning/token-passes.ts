import type { ModelConfig } from "../models/config/model-config.ts";
import { type AttentionForm, hasPrefix } from "../models/graph/decoder.ts";
import { suitsOperator } from "../models/graph/whole-attention.ts";
import { tileSize } from "../onnx/tiled-attention.ts";
import { commonPrefix, createRowNumbers, lossLength, type TokenSequence } from "./batch.ts";
import { byGroup } from "./group-advantages.ts";

/** How much may go through a model at once. */
export interface PassLimits {
  /** Tokens. What sequences begin with alike counts once, and where it stands again an eighth, as what pads them. */
  tokens: number;
  /** Pairs of tokens that attention scores in vain, since at least one of them is padding. */
  padding: number;
  /** As many more of them for each token that samples share, so that it isn't computed in several passes. */
  paddingPerShared: number;
}

/** Attention's own tensors have a place for each token of each sequence; they are about so much of what a token takes. */
const partOfPlace = 1 / 8;

/** The limits for a model: padding may cost about what a pass of its own costs (measured at 0.1 and 6 million weights), or what sharing spares. */
export function passLimits(config: ModelConfig, tokens: number): PassLimits {
  return {
    tokens,
    padding: 32 * config.hidden_size * config.head_dim,
    paddingPerShared: pairsOfToken(config),
  };
}

/** Pairs of tokens whose attention takes as many products as all else of a token. */
function pairsOfToken(config: ModelConfig): number {
  const { hidden_size, head_dim, num_attention_heads, num_key_value_heads, intermediate_size } = config;
  const queries = num_attention_heads * head_dim;
  const keys = num_key_value_heads * head_dim;
  const layer = hidden_size * (2 * queries + 2 * keys + 3 * intermediate_size);
  // A token takes a product with each weight of a layer, a pair one with a query's numbers and one with a value's.
  return layer / (2 * queries);
}

/**
 * Splits samples, each of one or more sequences, into passes within the limits (a sample that exceeds them by itself is a pass of its own):
 * the numbers of the samples of each pass. Samples of one prompt come together, since what they share is computed once a pass, and
 * aren't split where a pass can hold them all; those of like length do, the longest first. Deterministic.
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

/** A pass of sequences, none longer than `length`, by what it comes to. */
function createPass(length: number, { tokens, padding, paddingPerShared }: PassLimits) {
  const numbers = createRowNumbers();
  let [places, apart, padded] = [0, 0, 0];
  return {
    /** Adds those that would otherwise be in a pass of their own. */
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

/** Tokens that a pass over sequences computes: what they begin with alike counts once. */
export function rowCount(sequences: readonly TokenSequence[]): number {
  const numbers = createRowNumbers();
  for (const sequence of sequences) numbers.add(sequence);
  return numbers.count();
}

/** What stands before the first action. */
function promptOf(sequence: TokenSequence | undefined): string {
  return sequence?.tokens.slice(0, sequence.mask.indexOf(1)).join() ?? "";
}

/** Attention takes so many times as long as other products of as many numbers (measured at SmolLM2-135M's and Qwen2.5-0.5B's shapes). */
const slownessOfAttention = 2.5;

/** What a pass takes on the CPU, in tokens, about: those that it computes, and attention. */
export function passEffort(sequences: readonly TokenSequence[], config: ModelConfig): number {
  const longest = longestLength(sequences);
  const prefix = wantedPrefix(sequences, config);
  const pairs = prefix ** 2 + sequences.length * (longest - prefix) * longest;
  return rowCount(sequences) + (slownessOfAttention * pairs) / pairsOfToken(config);
}

/** Tokens of the longest sequences whose attention's weights are kept, and of the longest that are attended in one piece. */
const [longestKept, longestWhole] = [512, 1024];

/**
 * How each pass over sequences attends on the CPU: weights grow with the square of their length, and tiles cost time where they are few.
 * Passes of one update keep them all or none, as each form is a graph of its own.
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

/** How a pass over sequences attends on the CPU where no gradients are wanted: there is nothing to make again. */
export function scoringForm(
  sequences: readonly TokenSequence[],
  config: ModelConfig,
): "tiled" | "prefixed" | "kept" {
  if (longestLength(sequences) > longestWhole) return "tiled";
  return wantedPrefix(sequences, config) > 0 ? "prefixed" : "kept";
}

/** The tokens that a pass in this form keeps apart, as attention takes them once. */
export function prefixLength(form: AttentionForm, sequences: readonly TokenSequence[]): number {
  return hasPrefix(form) ? commonPrefix(sequences) : 0;
}

/** Of the longest sequence, so much at least must be what all begin with: what comes after it attends by slower operators. */
const leastPrefix = 1 / 3;

/** The tokens that a pass should keep apart; none if they are too few. */
function wantedPrefix(sequences: readonly TokenSequence[], config: ModelConfig): number {
  if (sequences.length < 2 || !suitsOperator(config)) return 0;
  const prefix = commonPrefix(sequences);
  return prefix >= leastPrefix * longestLength(sequences) ? prefix : 0;
}

/** What sequences are padded to a multiple of in attention of this form. */
export function lengthStep(form: AttentionForm): number {
  return form === "tiled" ? tileSize : 1;
}

function longestLength(sequences: readonly TokenSequence[]): number {
  return Math.max(0, ...sequences.map(lossLength));
}
