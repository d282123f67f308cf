import { isDeepStrictEqual } from "node:util";
import type { Device } from "../devices/device.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { TokenSequence } from "./batch.ts";
import { passEffort, passLimits, rowCount, tokenPasses } from "./token-passes.ts";

/** The most tokens of a pass, each list in descending order. */
export interface PassTokens {
  /** Sizes to try first. */
  usual: readonly number[];
  /** Sizes to use if they save enough. */
  larger: readonly number[];
}

const usualTokens: Readonly<Record<Device, PassTokens>> = {
  // Passes down to 256 tokens cost little more. Smaller ones would.
  cpu: { usual: [1024, 512, 256], larger: [4096, 2048] },
  // Starting a pass takes about 50 ms regardless of its tokens.
  cuda: { usual: [16_384, 8192, 4096, 2048, 1024, 512, 256], larger: [] },
  // The available memory is unknown, so these fit most cards.
  webgpu: { usual: [1024], larger: [] },
};

/** Returns the sizes of passes to try on a device. With `maxTokensPerRun`, only that one. */
export function passTokens(device: Device, maxTokensPerRun?: number): PassTokens {
  return maxTokensPerRun === undefined ? usualTokens[device] : { usual: [maxTokensPerRun], larger: [] };
}

/** Samples in passes. */
export interface PassSplit {
  /** The numbers of the samples of each pass. */
  passes: number[][];
  /** Approximate cost in tokens: computed tokens, attention, and the overhead of larger passes. */
  cost: number;
}

/** The factor by which passes of twice the size must be cheaper, because they take twice the memory. */
const costOfTwice = 1.1;

/** Ways to split samples into passes. */
export interface PassSplits {
  cheapest: PassSplit;
  /** Returns all ways, cheapest first. Computed on request. */
  all(): PassSplit[];
}

/**
 * Splits samples into passes. Larger passes than usual are cheaper if samples share long beginnings. Smaller ones cost at
 * least as much, but need less memory.
 */
export function passSplits(
  samples: readonly (readonly TokenSequence[])[],
  config: ModelConfig,
  { usual, larger }: PassTokens,
): PassSplits {
  const sequencesOf = (pass: readonly number[]) => pass.flatMap((index) => samples[index]!);
  const splitAt = (tokens: number): PassSplit => {
    const passes = tokenPasses(samples, passLimits(config, tokens));
    const efforts = passes.map((pass) => passEffort(sequencesOf(pass), config));
    const doublings = Math.log2(Math.max(1, tokens / usual[0]!));
    return { passes, cost: efforts.reduce((sum, effort) => sum + effort, 0) * costOfTwice ** doublings };
  };
  const [first, ...smaller] = usual;
  const firstSplit = first === undefined ? { passes: [], cost: 0 } : splitAt(first);
  const isShared = costOfTwice * rowCount(samples.flat()) < firstSplit.cost;
  const cheaper = (isShared ? larger : []).map(splitAt).filter((split) => split.cost < firstSplit.cost);
  const inOrder = (splits: readonly PassSplit[]) => splits.toSorted((a, b) => a.cost - b.cost);
  const usualOrLarger = inOrder([firstSplit, ...cheaper]);
  return {
    cheapest: usualOrLarger[0]!,
    all() {
      // Smaller passes would pad less, but gain nothing.
      const others = smaller
        .map(splitAt)
        .map(({ passes, cost }) => ({ passes, cost: Math.max(firstSplit.cost, cost) }));
      const known = [firstSplit, ...others];
      const different = others.filter(({ passes }, at) => !isDeepStrictEqual(passes, known[at]?.passes));
      return inOrder([...usualOrLarger, ...different]);
    },
  };
}
