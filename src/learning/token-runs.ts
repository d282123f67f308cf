import type { ModelConfig } from "../models/model-config.ts";
import { lossLength, type TokenSequence } from "./batch.ts";
import { byGroup } from "./group-advantages.ts";

/** How much may go through a model at once. */
export interface RunLimits {
  /** Tokens, with those that shorter sequences are padded with for attention. */
  tokens: number;
  /** Pairs of tokens that attention scores in vain, since at least one of them is padding. */
  padding: number;
}

/** The limits for a model: padding may cost about what a run of its own costs (measured at 0.1 and 6 million weights). */
export function runLimits({ hidden_size, head_dim }: ModelConfig, tokens: number): RunLimits {
  return { tokens, padding: 32 * hidden_size * head_dim };
}

/**
 * Splits samples, each of one or more sequences, into runs within the limits (what exceeds them by itself runs alone):
 * the numbers of the samples of each run. Samples of one prompt come together, since what they share is computed once a run;
 * those of like length do, the longest first. Deterministic.
 */
export function tokenRuns(
  samples: readonly (readonly TokenSequence[])[],
  { tokens, padding }: RunLimits,
): number[][] {
  const lengths = samples.map((sequences) => sequences.map(lossLength));
  const longest = lengths.map((own) => Math.max(0, ...own));
  const prompts = samples.map(([first]) => promptOf(first));
  const longestFirst = (a = 0, b = 0) => longest[b]! - longest[a]!;
  const order = [...byGroup([...samples.keys()], prompts).values()]
    .map((group) => group.sort(longestFirst))
    .sort(([a], [b]) => longestFirst(a, b))
    .flat();
  const runs: number[][] = [];
  let [length, rows, padded] = [0, 0, 0];
  for (const index of order) {
    const own = lengths[index]!;
    rows += own.length;
    padded += paddedPairs(own, length);
    if (runs.length === 0 || rows * length > tokens || padded > padding) {
      runs.push([]);
      length = longest[index]!;
      rows = own.length;
      padded = paddedPairs(own, length);
    }
    runs.at(-1)!.push(index);
  }
  return runs;
}

/** What stands before the first action. */
function promptOf(sequence: TokenSequence | undefined): string {
  return sequence?.tokens.slice(0, sequence.mask.indexOf(1)).join() ?? "";
}

/** Tokens of the longest sequence that is attended in one piece. */
const longestWhole = 1024;

/** Whether the sequences of a run are so long that attention should go tile by tile. */
export function wantsTiles(sequences: readonly TokenSequence[]): boolean {
  return sequences.some((sequence) => lossLength(sequence) > longestWhole);
}

/** Pairs of tokens, one of them padding at least, where sequences are padded to a length. */
function paddedPairs(lengths: readonly number[], length: number): number {
  return lengths.reduce((sum, own) => sum + length ** 2 - own ** 2, 0);
}
