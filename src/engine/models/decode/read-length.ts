import type { ReadLimits } from "./cached-decoder.ts";

/**
 * How many tokens a row of `count` new ones is padded to when it is read: a single row of scores takes another kernel
 * than several, whose sums differ in their last bits.
 */
export function readLength(count: number): number {
  return Math.max(2, count);
}

/**
 * How much a processor reads in one run. What passes between the operators of a small model then stays in its caches,
 * and scores take 64 MiB. More of a prompt at once, and attention reads much in vain; where rounding depends on how a
 * prompt is divided, it is divided by the blocks that are kept of it.
 */
export function readLimits(isSplitInvariant: boolean): ReadLimits {
  return { ofPrompt: isSplitInvariant ? 256 : 64, atOnce: 1024, scores: 2 ** 24 };
}

/** The same of a card, for which larger runs cost less; scores take 256 MiB. */
export const cardReadLimits: ReadLimits = { ofPrompt: 2048, atOnce: 4096, scores: 2 ** 26 };
