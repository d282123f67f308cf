import { defined } from "../../src/base/records/defined.ts";
import type { Device } from "../../src/engine/devices/device.ts";
import type { Experienced } from "../../src/engine/learning/token-rewards.ts";
import type { ModelConfig } from "../../src/engine/models/config/model-config.ts";
import { bytesOfPosition } from "../../src/engine/models/decode/key-values.ts";
import { createSampler, type Sampler } from "../../src/engine/sampling/sampler.ts";
import type { Draw } from "./draw.ts";

/** What trajectories are sampled from: a model's folder, or that of an adapter and its base's. */
export interface Sampled {
  config: ModelConfig;
  folder: string;
  base?: string;
  device: Device;
  temperature: number;
}

/**
 * Six trajectories of two turns and random rewards, sampled together: two groups of a prompt each, of which one may be long, and two prompts
 * alone; with memory for all of their keys and values, or for one or two at once.
 */
export async function sampledTrajectories(
  draw: Draw,
  { config, folder, base, device, temperature }: Sampled,
): Promise<Experienced[]> {
  const [long, short] = [draw.of(40, 120, 300, 700), draw.of(9, 33)];
  const contexts = [long, long, short, short, 3, 64].map((length, row) => tokensOf(row >> 1, length));
  const positions = 2 * Math.ceil((long + 256) / 64) * 64;
  const keyValueBytes = draw.of(2 ** 28, positions * bytesOfPosition(config));
  const sampling = { temperature, ...draw.of({}, {}, { topP: 0.9 }, { topK: 20 }, { minP: 0.02 }) };
  const earned = contexts.map(() => ({ reward: draw.of(0, 0.5, 1), truncated: draw.isSo(0.2) }));
  const sampler = createSampler(
    defined({
      config,
      slots: 4,
      stopTokens: [],
      threads: 2,
      decode: () => "",
      target: { device },
      keyValueBytes,
      base,
    }),
  );
  try {
    await sampler.load(0, folder);
    return await Promise.all(
      contexts.map(async (context, row) => {
        const trajectory = await twoTurns(sampler, context, row, sampling);
        return { ...trajectory, ...earned[row]!, group: String(row >> 1) };
      }),
    );
  } finally {
    await sampler.close();
  }
}

type TwoTurns = Omit<Experienced, "reward">;

/** Two turns with an observation between them. */
async function twoTurns(
  sampler: Sampler,
  context: readonly number[],
  row: number,
  sampling: { temperature: number },
): Promise<TwoTurns> {
  const columns = {
    tokens: [...context],
    mask: context.map(() => 0),
    logprobs: context.map(() => 0),
    samplingLogprobs: context.map(() => 0),
  };
  let routerTies: number[] = [];
  for (const turn of [0, 1]) {
    const sample = await sampler.generate({
      tokens: columns.tokens,
      version: 0,
      sampling: { ...sampling, maxTokens: 6 + 5 * row },
      key: { seed: 1, trajectory: String(row), turn },
    });
    columns.tokens.push(...sample.tokens);
    columns.mask.push(...sample.tokens.map(() => 1));
    columns.logprobs.push(...sample.temperedLogprobs);
    columns.samplingLogprobs.push(...sample.samplingLogprobs);
    routerTies = sample.routerTies;
    if (turn === 1) break;
    const observation = tokensOf(row, 3 + 9 * row);
    columns.tokens.push(...observation);
    for (const column of [columns.mask, columns.logprobs, columns.samplingLogprobs])
      column.push(...observation.map(() => 0));
  }
  return { ...columns, routerTies };
}

/** So many tokens, others for another number. */
function tokensOf(number: number, length: number): number[] {
  return Array.from({ length }, (_, at) => (at * 13 + number * 29 + length + 7 * at * at) % 70);
}
