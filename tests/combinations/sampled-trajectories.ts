import type { Device } from "../../src/devices/device.ts";
import type { ScoredTrajectory } from "../../src/learning/token-rewards.ts";
import type { ModelConfig } from "../../src/models/model-config.ts";
import { createSampler } from "../../src/sampling/sampler.ts";
import type { Draw } from "./draw.ts";

/** What trajectories are sampled from: a model's folder, or that of an adapter and its base's. */
export interface Sampled {
  config: ModelConfig;
  folder: string;
  base?: string;
  device: Device;
  temperature: number;
}

/** So many sampled tokens, after as many, count as an observation: a trajectory has two turns. */
const observed = 3;

/** Six trajectories of random rewards, sampled together: two groups of a prompt each, of which one may be long, and two prompts alone. */
export async function sampledTrajectories(
  draw: Draw,
  { config, folder, base, device, temperature }: Sampled,
): Promise<ScoredTrajectory[]> {
  const [long, short] = [draw.of(40, 120, 300, 700), draw.of(9, 33)];
  const contexts = [long, long, short, short, 3, 64].map((length, row) =>
    Array.from({ length }, (_, at) => (at * 13 + (row >> 1) * 29 + length + 7 * at * at) % 70),
  );
  const earned = contexts.map(() => ({ reward: draw.of(0, 0.5, 1), truncated: draw.isSo(0.2) }));
  const sampler = createSampler({
    ...{ config, slots: 4, stopTokens: [], threads: 2, decode: () => "", target: { device } },
    ...(base !== undefined && { base }),
  });
  try {
    await sampler.load(0, folder);
    return await Promise.all(
      contexts.map(async (context, row) => {
        const { tokens, temperedLogprobs, routerTies } = await sampler.generate({
          ...{ tokens: context, version: 0, sampling: { temperature, maxTokens: 12 + row * 9 } },
          key: { seed: 1, trajectory: String(row), turn: 0 },
        });
        const mask = [
          ...context.map(() => 0),
          ...tokens.map((_, at) => (at >= observed && at < 2 * observed ? 0 : 1)),
        ];
        return {
          ...{ tokens: [...context, ...tokens], mask, routerTies, group: String(row >> 1) },
          logprobs: [...context.map(() => 0), ...temperedLogprobs],
          ...earned[row]!,
        };
      }),
    );
  } finally {
    await sampler.close();
  }
}
