import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freshAdapter, type LoraSettings } from "../../src/learning/lora.ts";
import { formatModelConfig } from "../../src/models/model-config-file.ts";
import { randomModelWeights } from "../../src/models/model-weights.ts";
import { writeSafetensors } from "../../src/models/safetensors.ts";
import { createUniformStream, type UniformStream } from "../../src/random/uniform-stream.ts";
import { configs, type ShapeName } from "../shapes.ts";

/** What both sides train on: a trajectory's tokens, the mask of those that carry loss, and what was recorded. */
export interface BenchmarkSequence {
  tokens: number[];
  mask: number[];
  logprobs: number[];
  advantages: number[];
}

/** Sequences and the longest of them, in tokens, a step. */
const batches: Readonly<Record<ShapeName, readonly [count: number, length: number]>> = {
  tiny: [32, 128],
  small: [8, 256],
  "smol-135m": [2, 256],
  "qwen-0.5b": [8, 512],
};

/** The adapter that both sides train: all linear maps. */
export const loraSettings: LoraSettings = {
  rank: 16,
  alpha: 32,
  targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
};

/**
 * A step's trajectories. Their lengths lie evenly between 30 and 100 % of the longest. Of each, 40 % are prompt, 15 %
 * action, 30 % observation, 15 % action: 30 % of the tokens carry loss.
 */
export function benchmarkBatch(shape: ShapeName): BenchmarkSequence[] {
  const [count, longest] = batches[shape];
  const vocabulary = configs[shape].vocab_size;
  return Array.from({ length: count }, (_, index) => {
    const uniform = createUniformStream({ seed: 1, trajectory: `${shape}/${index}`, turn: 0 });
    const length = index === 0 ? longest : Math.round(longest * (1 - (0.7 * (index + 0.5)) / count));
    return sequence(length, vocabulary, uniform);
  });
}

function sequence(length: number, vocabulary: number, uniform: UniformStream): BenchmarkSequence {
  const part = (share: number) => Math.round(share * length);
  const mask = Array.from({ length }, (_, at) =>
    (at >= part(0.4) && at < part(0.55)) || at >= part(0.85) ? 1 : 0,
  );
  const advantage = 2 * uniform(1) - 1;
  return {
    tokens: mask.map((_, at) => Math.floor(vocabulary * uniform(100 + at))),
    mask,
    logprobs: mask.map((marked, at) =>
      marked === 1 ? -Math.log(vocabulary) + 0.2 * (uniform(10_000 + at) - 0.5) : 0,
    ),
    advantages: mask.map((marked) => (marked === 1 ? advantage : 0)),
  };
}

/** Writes a random model, an adapter where one is trained, and the batch, for both sides to read. */
export async function writeWorkload(folder: string, shape: ShapeName, lora: boolean): Promise<void> {
  const config = configs[shape];
  await mkdir(folder, { recursive: true });
  const ids = { bos_token_id: 0, eos_token_id: 0, pad_token_id: 0 };
  await writeFile(join(folder, "config.json"), formatModelConfig(config, ids));
  await writeSafetensors(join(folder, "model.safetensors"), randomModelWeights(config, 1));
  await writeFile(join(folder, "batch.json"), JSON.stringify(benchmarkBatch(shape)));
  if (!lora) return;
  const adapter = freshAdapter(config, loraSettings, 2);
  const named = [...adapter].map(([name, tensor]) => [`base_model.model.${name}`, tensor] as const);
  await writeFile(join(folder, "lora.json"), JSON.stringify(loraSettings));
  await writeSafetensors(join(folder, "adapter.safetensors"), new Map(named));
}
