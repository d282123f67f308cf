import type { ModelConfig } from "../models/model-config.ts";
import { createRowNumbers, lossLength, type TokenSequence } from "./batch.ts";
import { byGroup } from "./group-advantages.ts";

/** How much may go through a model at once. */
export interface RunLimits {
  /** Tokens, with those that shorter sequences are padded with for attention; what sequences begin with alike counts once. */
  tokens: number;
  /** Pairs of tokens that attention scores in vain, since at least one of them is padding. */
  padding: number;
}

/** Attention's own tensors have a place for each token of each sequence: so many times the tokens of a run, at most. */
const placesPerToken = 2;

/** The limits for a model: padding may cost about what a run of its own costs (measured at 0.1 and 6 million weights). */
export function runLimits({ hidden_size, head_dim }: ModelConfig, tokens: number): RunLimits {
  return { tokens, padding: 32 * hidden_size * head_dim };
}

/**
 * Splits samples, each of one or more sequences, into runs within the limits (what exceeds them by itself runs alone):
 * the numbers of the samples of each run. Samples of one prompt come together, since what they share is computed once a run, and
 * aren't split where a run can hold them all; those of like length do, the longest first. Deterministic.
 */
export function tokenRuns(samples: readonly (readonly TokenSequence[])[], limits: RunLimits): number[][] {
  const longest = samples.map((sequences) => Math.max(0, ...sequences.map(lossLength)));
  const prompts = samples.map(([first]) => promptOf(first));
  const longestFirst = (a = 0, b = 0) => longest[b]! - longest[a]!;
  const groups = [...byGroup([...samples.keys()], prompts).values()]
    .map((group) => group.sort(longestFirst))
    .sort(([a], [b]) => longestFirst(a, b));
  const sequencesOf = (indexes: readonly number[]) => indexes.flatMap((index) => samples[index]!);
  const runOf = (indexes: readonly number[]) => {
    const run = createRun(longest[indexes[0]!]!, limits);
    run.add(sequencesOf(indexes));
    return run;
  };
  const whole = (group: readonly number[]) => group.length === 1 || runOf(group).isWithin();
  const parts = groups.flatMap((group) => (whole(group) ? [group] : group.map((index) => [index])));
  const runs: number[][] = [];
  let run: ReturnType<typeof createRun> | undefined;
  for (const part of parts) {
    run?.add(sequencesOf(part));
    if (!run?.isWithin()) {
      run = runOf(part);
      runs.push([]);
    }
    runs.at(-1)!.push(...part);
  }
  return runs;
}

/** A run of sequences, none longer than `length`, by what it comes to. */
function createRun(length: number, { tokens, padding }: RunLimits) {
  const numbers = createRowNumbers();
  let [count, own, padded] = [0, 0, 0];
  return {
    add(sequences: readonly TokenSequence[]) {
      for (const sequence of sequences) {
        numbers.add(sequence);
        const size = lossLength(sequence);
        count += 1;
        own += size;
        padded += length ** 2 - size ** 2;
      }
    },
    isWithin() {
      const places = count * length;
      const shared = own - numbers.count();
      return places - shared <= tokens && places <= placesPerToken * tokens && padded <= padding;
    },
  };
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
