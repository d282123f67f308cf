import type { ReadLimits } from "./cached-decoder.ts";

/**
 * Returns the number of tokens that a row of `count` new ones is padded to. The runtime multiplies a single row of
 * scores with another kernel, whose sums differ in their last bits.
 */
export function readLength(count: number): number {
  return Math.max(2, count);
}

/**
 * Returns the limits for a pass on the CPU. Data between the operators of a small model then fits into its caches, and
 * scores take 64 MiB. With more of a prompt at a time, attention would read much in vain. If rounding depends on how a
 * prompt is split, it is split at stored blocks.
 */
export function readLimits(isSplitInvariant: boolean): ReadLimits {
  return { ofPrompt: isSplitInvariant ? 256 : 64, atOnce: 1024, scores: 2 ** 24 };
}

/** The limits for a card, on which larger passes cost less. Scores take 256 MiB. */
export const cardReadLimits: ReadLimits = { ofPrompt: 2048, atOnce: 4096, scores: 2 ** 26 };
