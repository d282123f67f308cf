import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defined } from "../../src/base/records/defined.ts";
import type { Device } from "../../src/engine/devices/device.ts";
import { freshAdapter, type LoraSettings } from "../../src/engine/learning/lora.ts";
import { createTrainer, type TrainerOptions } from "../../src/engine/learning/trainer.ts";
import { freshTrainerState, type TrainerState } from "../../src/engine/learning/trainer-state.ts";
import type { TrainedModel } from "../../src/engine/learning/training-graphs.ts";
import type { Family } from "../../src/engine/models/config/families.ts";
import type { ModelConfig } from "../../src/engine/models/config/model-config.ts";
import { writeAdapter } from "../../src/engine/models/weights/adapter-folder.ts";
import { readWeights, writeWeights } from "../../src/engine/models/weights/checkpoint.ts";
import { quantizeWeights } from "../../src/engine/models/weights/quantize.ts";
import { quantizedTensors } from "../../src/engine/models/weights/quantized-tensors.ts";
import { randomModelWeights } from "../../src/engine/models/weights/random-weights.ts";
import type { Tensor } from "../../src/engine/models/weights/safetensors.ts";
import { readFrozenWeights } from "../../src/engine/models/weights/weight-sources.ts";
import { copyTrainerState } from "../support/copy-trainer-state.ts";
import { createDraw, type Draw } from "./draw.ts";
import { randomConfig } from "./random-config.ts";
import { randomSettings } from "./random-settings.ts";
import { sampledTrajectories } from "./sampled-trajectories.ts";

/** What became of a combination. */
export interface Outcome {
  /** What was drawn. */
  drawn: Record<string, unknown>;
  /** Largest difference between what the sampler recorded and the trainer recomputed, nats. */
  gap: number;
  /** What two steps measured by the trainer under test, */
  metrics: readonly object[];
  /** and by one of the same numbers in float32 on the CPU, which computes each trajectory by itself. */
  expected: readonly object[];
}

type Frozen = Awaited<ReturnType<typeof readFrozenWeights>>;

type Base = "float32" | "bfloat16" | "float16" | "int8" | "int4";

/**
 * Draws a model of a family, how its weights are kept, an adapter, and an algorithm's settings; samples trajectories and trains on them
 * in two steps, twice: as a run would, and in the plainest way that there is.
 */
export async function runCombination(seed: number, family: Family, device: Device = "cpu"): Promise<Outcome> {
  const draw = createDraw(seed);
  const config = randomConfig(draw, family);
  const base: Base = draw.of("float32", "bfloat16", "float16", "int8", "int8", "int4", "int4");
  const lora = base !== "float32" || draw.isSo(0.5) ? randomLora(draw) : undefined;
  const temperature = draw.of(1, 1, 0.7, 1.3);
  const work = await mkdtemp(join(tmpdir(), "everturn-combination-"));
  try {
    const folder = join(work, "base");
    await writeBase(draw, folder, config, base);
    const adapter = lora && randomAdapter(draw, config, lora);
    const adapted = join(work, "adapter");
    if (lora && adapter) await writeAdapter(adapted, { ...lora, base: folder }, adapter);
    const from = adapter ? { folder: adapted, base: folder } : { folder };
    const trajectories = await sampledTrajectories(draw, { config, device, temperature, ...from });

    const settings = randomSettings(draw);
    const optimizerBits = draw.of(32, 32, 8);
    const widened: Frozen = { weights: await readWeights(folder) };
    // Half precision stays in its file from so many bytes on.
    const frozen = lora ? await readFrozenWeights(folder, draw.of(0, 1e9)) : widened;
    const recompute = draw.isSo(0.5);
    const twoSteps = async ({ weights, base: kept }: Frozen, options: Partial<TrainerOptions>) => {
      const model: TrainedModel = defined({ config, lora, base: kept });
      const fresh = freshTrainerState(model, weights, 1, optimizerBits);
      const state: TrainerState = copyTrainerState({ ...fresh, adapter: adapter ?? fresh.adapter });
      const reference = async () => adapter ?? readWeights(folder);
      const run = { state, settings, seed: 1, threads: 2, reference };
      const trainer = createTrainer({ ...model, ...run, ...options });
      try {
        const first = await trainer.policyGradientStep(trajectories, { temperature });
        return [first, await trainer.policyGradientStep(trajectories, { temperature })] as const;
      } finally {
        await trainer.close();
      }
    };
    const metrics = await twoSteps(frozen, { device });
    const expected = await twoSteps(widened, { maxTokensPerRun: 1, recompute });
    const drawn = { seed, config, base, lora, temperature, settings, optimizerBits, recompute };
    return { drawn, gap: metrics[0].logprobGap, metrics, expected };
  } finally {
    await rm(work, { recursive: true });
  }
}

async function writeBase(draw: Draw, folder: string, config: ModelConfig, base: Base): Promise<void> {
  await mkdir(folder);
  const weights = randomModelWeights(config, 1);
  // Biases of zeros and norms of ones would hide what is done with them.
  for (const [name, { data }] of weights)
    if (/bias|norm/.test(name)) data.set(draw.noise(data.length).map((value, at) => data[at]! + value / 3));
  const shards = { shardBytes: 200_000 };
  if (base === "int8" || base === "int4") {
    const { tensors, quantized } = await quantizeWeights(weights, base);
    return writeWeights(folder, new Map([...tensors, ...quantizedTensors(quantized)]), shards);
  }
  const dtypes = { float32: "F32", bfloat16: "BF16", float16: "F16" } as const;
  return writeWeights(folder, weights, { ...shards, dtype: dtypes[base] });
}

function randomLora(draw: Draw): LoraSettings {
  const all = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];
  const targets = all.filter(() => draw.isSo(0.6));
  return { rank: draw.of(2, 4), alpha: 8, targets: targets.length > 0 ? targets : all };
}

/** An adapter that changes something. */
function randomAdapter(draw: Draw, config: ModelConfig, lora: LoraSettings): Map<string, Tensor> {
  const scaled = (length: number) => draw.noise(length).map((value) => value / 5);
  return new Map(
    [...freshAdapter(config, lora, 1)].map(([name, { shape, data }]) => [
      name,
      { shape, data: scaled(data.length) },
    ]),
  );
}
