import { isDeepStrictEqual } from "node:util";
import type { Device } from "../devices/device.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { TokenSequence } from "./batch.ts";
import { passEffort, passLimits, rowCount, tokenPasses } from "./token-passes.ts";

/** Tokens of a pass, at most, the largest of each first. */
export interface PassTokens {
  /** What passes are tried with. */
  usual: readonly number[];
  /** What they are where that spares enough. */
  larger: readonly number[];
}

const usualTokens: Readonly<Record<Device, PassTokens>> = {
  // Smaller passes than 1,024 tokens cost little more, below 256 they would.
  cpu: { usual: [1024, 512, 256], larger: [4096, 2048] },
  // A pass takes some 50 ms to ask for, however few its tokens are.
  cuda: { usual: [16_384, 8192, 4096, 2048, 1024, 512, 256], larger: [] },
  // Nobody says how much memory there is: what most cards have.
  webgpu: { usual: [1024], larger: [] },
};

/** What passes on a device are tried with; with `maxTokensPerRun`, that alone. */
export function passTokens(device: Device, maxTokensPerRun?: number): PassTokens {
  return maxTokensPerRun === undefined ? usualTokens[device] : { usual: [maxTokensPerRun], larger: [] };
}

/** Samples in passes. */
export interface PassSplit {
  /** Numbers of the samples of each pass. */
  passes: number[][];
  /** What they take, in tokens, about: those that they compute, attention, and what the size of larger passes costs by itself. */
  cost: number;
}

/** What passes of twice the size must spare, as they take twice the memory. */
const costOfTwice = 1.1;

/** The ways to split samples into passes, the cheapest first. Larger passes than usual are cheaper where samples begin with much that is alike. */
export function passSplits(
  samples: readonly (readonly TokenSequence[])[],
  config: ModelConfig,
  { usual, larger }: PassTokens,
): PassSplit[] {
  const sequencesOf = (pass: readonly number[]) => pass.flatMap((index) => samples[index]!);
  const splitAt = (tokens: number): PassSplit => {
    const passes = tokenPasses(samples, passLimits(config, tokens));
    const efforts = passes.map((pass) => passEffort(sequencesOf(pass), config));
    const doublings = Math.log2(Math.max(1, tokens / usual[0]!));
    return { passes, cost: efforts.reduce((sum, effort) => sum + effort, 0) * costOfTwice ** doublings };
  };
  const [first = { passes: [], cost: 0 }, ...others] = usual.map(splitAt);
  // Smaller passes pad less, but nothing is won by them.
  const smaller = others.map(({ passes, cost }) => ({ passes, cost: Math.max(first.cost, cost) }));
  const splits = [first, ...smaller];
  if (costOfTwice * rowCount(samples.flat()) < first.cost)
    splits.push(...larger.map(splitAt).filter((split) => split.cost < first.cost));
  return splits
    .filter(({ passes }, at) => !isDeepStrictEqual(passes, splits[at - 1]?.passes))
    .sort((a, b) => a.cost - b.cost);
}
