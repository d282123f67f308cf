import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import type { UpdateForecast } from "../../../../src/contracts/trainer.ts";
import { algorithmPresets } from "../../../../src/engine/learning/algorithm.ts";
import { freshCritic } from "../../../../src/engine/learning/critic.ts";
import { type ForecastOptions, forecastUpdates } from "../../../../src/engine/learning/forecast-updates.ts";
import { plannedBytes, type StepPlan, splitText } from "../../../../src/engine/learning/step-plan.ts";
import { supervisedObjective } from "../../../../src/engine/learning/supervised-objective.ts";
import { freshTrainerState } from "../../../../src/engine/learning/trainer-state.ts";
import { createTrainingEngine } from "../../../../src/engine/learning/training-engine.ts";
import type { TrainedModel } from "../../../../src/engine/learning/training-graphs.ts";
import type { TrainingSettings } from "../../../../src/engine/learning/training-settings.ts";
import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";
import { randomModelWeights } from "../../../../src/engine/models/weights/random-weights.ts";
import { readFrozenWeights } from "../../../../src/engine/models/weights/weight-sources.ts";
import { quantizedFolder } from "../../../support/quantized-model.ts";

const config = modelConfig({
  vocab_size: 300,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 160,
  max_position_embeddings: 256,
  initializer_range: 0.1,
});
const adapter = { rank: 4, alpha: 8, targets: ["q_proj", "v_proj"] as const };
const rates = { learningRate: 1e-4, warmupSteps: 0, decay: "none", decaySteps: 1, finalFraction: 0 } as const;
const ppoSettings: TrainingSettings = {
  ...algorithmPresets.ppo,
  ...rates,
  rewardNormalization: "none",
  epochs: 1,
  minibatchSize: 4,
  gradientClip: 1,
  weightDecay: 0,
};
const none: Partial<UpdateForecast> = {};
const size = { of: "demonstrations", count: 5, tokens: 40 } as const;

/** What the first update of a trainer says that it holds. */
async function planOf({ lora, matrices, settings, optimizerBits }: ForecastOptions): Promise<StepPlan> {
  const read =
    matrices === "int8" || matrices === "int4"
      ? await readFrozenWeights(await quantizedFolder(config, matrices))
      : { weights: randomModelWeights(config, 1) };
  const { weights, base } = { base: undefined, ...read };
  const model: TrainedModel = defined({ config, lora, base });
  const state = freshTrainerState(model, weights, 1, optimizerBits);
  if (settings.critic === "model") state.critic = freshCritic(model, state);
  const plans: StepPlan[] = [];
  const engine = createTrainingEngine({
    ...model,
    state,
    gradientClip: 1,
    weightDecay: 0,
    maxTokensPerRun: 90,
    onPlan: (plan) => plans.push(plan),
  });
  const samples = Array.from({ length: size.count }, (_, at) => ({
    sequences: [
      {
        tokens: Array.from({ length: size.tokens }, (_token, place) => (at * 7 + place) % config.vocab_size),
        mask: Array.from({ length: size.tokens }, (_token, place) => (place === 0 ? 0 : 1)),
      },
    ],
    columns: { weights: new Float32Array(size.tokens - 1).fill(0.01) },
  }));
  await engine.update({ objective: supervisedObjective, samples, scalars: {}, learningRate: 1e-4 });
  await engine.close();
  expect(plans).toHaveLength(1);
  return plans[0]!;
}

test.each<[string, Partial<ForecastOptions>]>([
  ["all weights", {}],
  ["all weights, with moments of 8 bits", { optimizerBits: 8 }],
  ["all weights, beside a critic of its own", { settings: { ...ppoSettings, critic: "model" } }],
  ["an adapter", { lora: adapter }],
  ["an adapter over a base in int8", { lora: adapter, matrices: "int8" }],
  ["an adapter over a base in int4", { lora: adapter, matrices: "int4" }],
  [
    "an adapter over a base in int8, beside a critic of its own",
    { lora: adapter, matrices: "int8", settings: { ...ppoSettings, critic: "model" } },
  ],
])("what an update of %s would hold is what its plan says, without its weights", async (_, given) => {
  const options: ForecastOptions = {
    config,
    matrices: "float32",
    settings: ppoSettings,
    optimizerBits: 32,
    maxTokensPerRun: 90,
    ...given,
  };
  const plan = await planOf(options);
  const [{ usual, least } = none] = forecastUpdates(options, [size]);
  const { weights, optimizer, gradients, activations, process } = plan;
  expect(usual).toEqual({
    bytes: plannedBytes(plan),
    parts: { weights, optimizer, gradients, activations, process },
    text: splitText(plan),
  });
  expect(usual?.text).toBe("3 passes of up to 78 tokens, no layer computed again");
  expect(least, "graphs that compute layers again are larger than what they spare").toEqual(usual);
});

test("gradients that trainers share are held four times: here, and as their sum, a portion's and its bytes", () => {
  const options = { config, matrices: "float32", settings: ppoSettings, optimizerBits: 32 } as const;
  const bytesOf = (sharesGradients: boolean) =>
    forecastUpdates({ ...options, maxTokensPerRun: 90, sharesGradients }, [size])[0]?.usual?.parts.gradients;
  expect(bytesOf(false)).toBeGreaterThan(0);
  expect(bytesOf(true)).toBe(4 * (bytesOf(false) ?? 0));
});

test("of longer sequences, the least is to compute all layers again, in passes of one", () => {
  const options = { config, matrices: "float32", settings: ppoSettings, optimizerBits: 32 } as const;
  const long = { ...config, max_position_embeddings: 4096 };
  const [{ usual, least } = none] = forecastUpdates({ ...options, config: long }, [
    { ...size, tokens: 2000 },
  ]);
  expect(usual?.text).toBe("5 passes of up to 1999 tokens, no layer computed again");
  expect(least?.text).toBe("5 passes of up to 1999 tokens, 2 of 2 layers computed again");
  expect(least?.bytes).toBeLessThan(usual?.bytes ?? 0);
});

test("where no way fits, the least is said alone; pairs are two answers each", () => {
  const options = { config, matrices: "float32", settings: ppoSettings, optimizerBits: 32 } as const;
  const [short] = forecastUpdates({ ...options, memory: 1e8 }, [size]);
  expect(short).toEqual({ ...size, least: expect.anything() });
  expect(forecastUpdates({ ...options, available: () => 0 }, [size])[0]).not.toHaveProperty("usual");
  const [, pairs] = forecastUpdates(options, [size, { of: "pairs", count: 5, tokens: 40 }]);
  expect(pairs?.usual?.text).toMatch(/^one pass of 390 tokens/);
});
