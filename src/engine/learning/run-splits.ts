import { isDeepStrictEqual } from "node:util";
import type { Device } from "../devices/device.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { TokenSequence } from "./batch.ts";
import { rowCount, runEffort, runLimits, tokenRuns } from "./token-runs.ts";

/** Tokens of a run, at most, the largest of each first. */
export interface RunTokens {
  /** What runs are tried with. */
  usual: readonly number[];
  /** What they are where that spares enough. */
  larger: readonly number[];
}

const usualTokens: Readonly<Record<Device, RunTokens>> = {
  // Smaller runs than 1,024 tokens cost little more, below 256 they would.
  cpu: { usual: [1024, 512, 256], larger: [4096, 2048] },
  // A run takes some 50 ms to ask for, however few its tokens are.
  cuda: { usual: [16_384, 8192, 4096, 2048, 1024, 512, 256], larger: [] },
  // Nobody says how much memory there is: what most cards have.
  webgpu: { usual: [1024], larger: [] },
};

/** What runs on a device are tried with; with `maxTokensPerRun`, that alone. */
export function runTokens(device: Device, maxTokensPerRun?: number): RunTokens {
  return maxTokensPerRun === undefined ? usualTokens[device] : { usual: [maxTokensPerRun], larger: [] };
}

/** Samples in runs. */
export interface RunSplit {
  /** Numbers of the samples of each run. */
  runs: number[][];
  /** What they take, in tokens, about: those that they compute, attention, and what the size of larger runs costs by itself. */
  cost: number;
}

/** What runs of twice the size must spare, as they take twice the memory. */
const costOfTwice = 1.1;

/** The ways to split samples into runs, the cheapest first. Larger runs than usual are cheaper where samples begin with much that is alike. */
export function runSplits(
  samples: readonly (readonly TokenSequence[])[],
  config: ModelConfig,
  { usual, larger }: RunTokens,
): RunSplit[] {
  const sequencesOf = (run: readonly number[]) => run.flatMap((index) => samples[index]!);
  const splitAt = (tokens: number): RunSplit => {
    const runs = tokenRuns(samples, runLimits(config, tokens));
    const efforts = runs.map((run) => runEffort(sequencesOf(run), config));
    const doublings = Math.log2(Math.max(1, tokens / usual[0]!));
    return { runs, cost: efforts.reduce((sum, effort) => sum + effort, 0) * costOfTwice ** doublings };
  };
  const [first = { runs: [], cost: 0 }, ...others] = usual.map(splitAt);
  // Smaller runs pad less, but nothing is won by them.
  const smaller = others.map(({ runs, cost }) => ({ runs, cost: Math.max(first.cost, cost) }));
  const splits = [first, ...smaller];
  if (costOfTwice * rowCount(samples.flat()) < first.cost)
    splits.push(...larger.map(splitAt).filter((split) => split.cost < first.cost));
  return splits
    .filter(({ runs }, at) => !isDeepStrictEqual(runs, splits[at - 1]?.runs))
    .sort((a, b) => a.cost - b.cost);
}
