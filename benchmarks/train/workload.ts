import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createUniformStream, type UniformStream } from "../../src/base/random/uniform-stream.ts";
import { freshAdapter, type LoraSettings } from "../../src/engine/learning/lora.ts";
import type { ModelConfig } from "../../src/engine/models/config/model-config.ts";
import { formatModelConfig } from "../../src/engine/models/config/model-config-file.ts";
import { modelWeightShapes } from "../../src/engine/models/weights/model-weights.ts";
import { randomModelWeights } from "../../src/engine/models/weights/random-weights.ts";
import { type Tensor, writeSafetensors } from "../../src/engine/models/weights/safetensors.ts";
import { elementCount } from "../../src/engine/onnx/element-count.ts";
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
  "llama-1b": [8, 512],
  "qwen-1.5b": [8, 512],
};

/** The adapter that both sides train: all linear maps. */
export const loraSettings: LoraSettings = {
  rank: 16,
  alpha: 32,
  targets: ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
};

/**
 * A step's trajectories. Their lengths lie evenly between 30 and 100 % of the longest, or are all that. Of each, 40 % are prompt, 15 %
 * action, 30 % observation, 15 % action: 30 % of the tokens carry loss.
 */
export function benchmarkBatch(
  shape: ShapeName,
  even = false,
  [count, longest] = batches[shape],
): BenchmarkSequence[] {
  const vocabulary = configs[shape].vocab_size;
  return Array.from({ length: count }, (_, index) => {
    const uniform = createUniformStream({ seed: 1, trajectory: `${shape}/${index}`, turn: 0 });
    const length = even || index === 0 ? longest : Math.round(longest * (1 - (0.7 * (index + 0.5)) / count));
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

/**
 * Writes a random model, an adapter where one is trained, and the batch, for both sides to read. With `real`, a batch of
 * even lengths (of a size other than the shape's, if it is given), and weights that repeat a million numbers, as a billion of
 * their own take minutes.
 */
export async function writeWorkload(
  folder: string,
  shape: ShapeName,
  lora: boolean,
  { real = false, size }: { real?: boolean; size?: readonly [count: number, length: number] } = {},
): Promise<void> {
  const config = configs[shape];
  await mkdir(folder, { recursive: true });
  const ids = { bos_token_id: 0, eos_token_id: 0, pad_token_id: 0 };
  await writeFile(join(folder, "config.json"), formatModelConfig(config, ids));
  const weights = real ? repeatedWeights(config) : randomModelWeights(config, 1);
  await writeSafetensors(join(folder, "model.safetensors"), weights);
  await writeFile(join(folder, "batch.json"), JSON.stringify(benchmarkBatch(shape, real, size)));
  if (!lora) return;
  const adapter = freshAdapter(config, loraSettings, 2);
  const named = [...adapter].map(([name, tensor]) => [`base_model.model.${name}`, tensor] as const);
  await writeFile(join(folder, "lora.json"), JSON.stringify(loraSettings));
  await writeSafetensors(join(folder, "adapter.safetensors"), new Map(named));
}

/** Normal numbers with a deviation of .02 (norms 1), a million of them again and again; tensors share their memory. */
export function repeatedWeights(config: ModelConfig): Map<string, Tensor> {
  const uniform = createUniformStream({ seed: 1, trajectory: "weights", turn: 0 });
  const normal = (at: number) =>
    0.02 * Math.sqrt(-2 * Math.log(1 - uniform(2 * at))) * Math.cos(2 * Math.PI * uniform(2 * at + 1));
  const numbers = Float32Array.from({ length: 1_000_003 }, (_, at) => normal(at));
  const shapes = [...modelWeightShapes(config)];
  const repeated = new Float32Array(Math.max(...shapes.map(([, shape]) => elementCount(shape))));
  for (let start = 0; start < repeated.length; start += numbers.length)
    repeated.set(numbers.subarray(0, repeated.length - start), start);
  return new Map(
    shapes.map(([name, shape]) => {
      const count = elementCount(shape);
      const data = name.includes("norm") ? new Float32Array(count).fill(1) : repeated.subarray(0, count);
      return [name, { shape, data }];
    }),
  );
}
