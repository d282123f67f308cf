import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  algorithmPresets,
  type JsonObject,
  type PolicyTraits,
  type Trainer,
  type TrainerSurroundings,
  type TrainingTrajectory,
} from "everturn/engine";
import { describe, expect, test } from "vitest";
import policy from "../../../plugins/policy-onnx/index.ts";
import { defaults } from "../../../plugins/trainer-onnx/config.ts";
import manifest from "../../../plugins/trainer-onnx/everturn.plugin.json" with { type: "json" };
import plugin from "../../../plugins/trainer-onnx/index.ts";
import { readConfig, trainingSettings } from "../../../plugins/trainer-onnx/settings.ts";
import { createAjv } from "../../../src/base/validation/ajv.ts";
import { tokenizerFolder } from "../../support/sample-plan.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);
const initial = at("v0000");
const architecture = {
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 24,
  max_position_embeddings: 16,
};
await policy.initialize(initial, { tokenizer: tokenizerFolder, architecture }, 1);

/** A configuration of the plugin with the manifest's defaults. */
function filled(changes: JsonObject): JsonObject {
  const config = { minibatchSize: 2, learningRate: 1e-2, warmupSteps: 1, klCoefficient: 0.1, ...changes };
  if (!createAjv().validate(manifest.config, config)) throw new Error("The configuration is not valid.");
  return config;
}
const usualConfig = filled({});

const demonstrations = [
  { tokens: [5, 6, 7, 8], mask: [0, 0, 1, 1] },
  { tokens: [5, 7, 9], mask: [0, 1, 1] },
];
const trajectories: TrainingTrajectory[] = [1, 0, 1, 0].map((reward, index) => ({
  id: `run/step-0001/task-${index}/0`,
  group: `task-${index}`,
  reward,
  tokens: [5, 6 + index, 9, 4],
  mask: [0, 1, 0, 1],
  logprobs: [0, -3, 0, -4],
}));
const supervised = { learningRate: 1e-2, steps: 4 };

/** All bytes that a trainer saves, by file. */
async function saved(trainer: Trainer, name: string): Promise<Map<string, Buffer>> {
  await trainer.save(at(`${name}-policy`), at(`${name}-state`));
  const files = [`${name}-policy`, `${name}-state`].flatMap((one) =>
    readdirSync(at(one)).map(
      (file) => [one.replace(name, ""), file, readFileSync(join(at(one), file))] as const,
    ),
  );
  return new Map(files.map(([part, file, bytes]) => [`${part}/${file}`, bytes]));
}

test.each([
  ["all weights", {}],
  ["an adapter, and a critic with one of its own", { lora: { rank: 4 }, critic: "model" }],
  ["a critic that is a model of its own", { critic: "model", valueLearningRate: 0.1, valueWarmupSteps: 1 }],
  ["moments of 8 bits, a critic's too", { lora: { rank: 256 }, optimizerBits: 8, critic: "model" }],
  [
    "a steered KL coefficient and running rewards",
    { klTarget: 0.01, klHorizon: 10, rewardNormalization: "standardize", rewardClip: 2 },
  ],
  ["float16, whose first update overflows", { precision: "float16", valueCoefficient: 100 }],
])(
  "saved and opened again, with %s, it goes on bit by bit as if it had never stopped",
  async (_, changes) => {
    const config = filled(changes);
    const warm = await plugin.open({ initial, policy: initial }, config, 1);
    await warm.supervisedStep(demonstrations, supervised);
    await saved(warm, "one");
    const folders = { initial, policy: at("one-policy"), state: at("one-state") };
    const resumed = await plugin.open(folders, config, 1);
    expect(await resumed.supervisedStep(demonstrations, supervised)).toEqual(
      await warm.supervisedStep(demonstrations, supervised),
    );
    expect(await saved(resumed, "resumed")).toEqual(await saved(warm, "warm"));
    await warm.close();
    await resumed.close();

    const reference = at("warm-policy");
    const trainer = await plugin.open({ initial, policy: reference, reference }, config, 1);
    const first = await trainer.policyGradientStep(trajectories, { temperature: 1 });
    expect(first.skippedUpdates).toBe("precision" in changes ? 1 : undefined);
    await saved(trainer, "two");
    const again = await plugin.open(
      { initial, policy: at("two-policy"), state: at("two-state"), reference },
      config,
      1,
    );
    const metrics = await again.policyGradientStep(trajectories, { temperature: 1 });
    expect(metrics).toEqual(await trainer.policyGradientStep(trajectories, { temperature: 1 }));
    expect(metrics.kl).toBeGreaterThan(0);
    expect(await saved(again, "again")).toEqual(await saved(trainer, "three"));
    await trainer.close();
    await again.close();
  },
);

test("a saved policy is a whole one: version 0's files with other weights", async () => {
  const trainer = await plugin.open({ initial, policy: initial }, usualConfig, 1);
  await trainer.supervisedStep(demonstrations, supervised);
  await trainer.save(at("next"), at("next-state"));
  expect(readdirSync(at("next")).sort()).toEqual(readdirSync(initial).sort());
  const weights = (name: string) => readFileSync(join(at(name), "model.safetensors"));
  expect(weights("next")).not.toEqual(weights("v0000"));
  await trainer.close();
});

test("with LoRA a version holds an adapter in PEFT's format, and no weights", async () => {
  const trainer = await plugin.open({ initial, policy: initial }, filled({ lora: { rank: 2 } }), 1);
  await trainer.supervisedStep(demonstrations, supervised);
  await trainer.save(at("adapter"), at("adapter-state"));
  await trainer.close();
  const files = readdirSync(at("adapter"));
  expect(files).toEqual(
    expect.arrayContaining(["adapter_config.json", "adapter_model.safetensors", "config.json"]),
  );
  expect(files).not.toContain("model.safetensors");
  const peft: unknown = JSON.parse(readFileSync(join(at("adapter"), "adapter_config.json"), "utf8"));
  expect(peft).toMatchObject({ r: 2, lora_alpha: 32, base_model_name_or_path: "../v0000" });
});

test("a configuration that doesn't go together is named key by key", async () => {
  const keysIn = async (changes: JsonObject, ...around: Parameters<typeof surroundings>) => {
    const problems = (await plugin.check?.(filled(changes), surroundings(...around))) ?? [];
    return problems.map(({ key }) => key);
  };
  const keys = (changes: JsonObject, groupSize = 8, staleness = 0, restrictions: string[] = []) =>
    keysIn(changes, { groupSize, staleness }, { restrictions });
  expect(await keys({})).toEqual([]);
  for (const algorithm of manifest.config.properties.algorithm.enum)
    expect(await keys({ algorithm })).toEqual([]);
  expect(await keys({ algorithm: "grpo" }, 1)).toEqual(["algorithm"]);
  expect(await keys({}, 8, 1)).toEqual(["importanceCorrection"]);
  expect(await keys({ importanceCorrection: "token-truncate" }, 8, 1)).toEqual([]);
  expect(await keys({}, 8, 0, ["sampling.topP is 0.95"])).toEqual(["importanceCorrection"]);
  expect(await keys({ optimizerBits: 8 })).toEqual([]);
  for (const device of ["cuda", "webgpu"])
    expect(await keys({ optimizerBits: 8, device })).toEqual(["optimizerBits"]);
  expect(await keys({ dataParallel: 4, minibatchSize: 4 })).toEqual([]);
  expect(await keys({ dataParallel: 5, minibatchSize: 4 })).toEqual(["dataParallel"]);
  expect(await keys({ dataParallel: 2, device: "webgpu" })).toEqual(["dataParallel"]);
  expect(await keys({ dataParallel: 2, freezeVisionTower: false })).toContain("dataParallel");
  expect(await keys({ algorithm: "dapo" }, 1)).toEqual(["algorithm", "algorithm"]);
  expect(await keys({ leaveOutUniformGroups: true }, 1)).toEqual(["leaveOutUniformGroups"]);
  expect(await keys({ algorithm: "rloo", aggregation: "token-mean" })).toEqual(["aggregation"]);
  expect(await keys({ algorithm: "grpo", credit: "token" })).toEqual(["credit"]);
  expect(await keys({ normalization: "group" })).toEqual(["normalization"]);
  expect(await keys({ klTarget: 0.1, klCoefficient: 0 })).toEqual(["klCoefficient"]);
  expect(await keys({ importanceMinimum: 2 })).toEqual(["importanceMinimum"]);
  expect(await keys({ overlongMaximum: 100 })).toEqual(["overlongBuffer"]);
  expect(await keys({ decay: "cosine" })).toEqual(["decay"]);
  expect(await keys({ critic: "model" })).toEqual([]);
  expect(await keys({ algorithm: "grpo", critic: "model" })).toEqual(["critic"]);
  expect(await keys({ critic: "model", valueCoefficient: 0.5 })).toEqual(["valueCoefficient"]);
  const quantized = (changes: JsonObject) => keysIn(changes, {}, { quantization: "int8" });
  expect([await quantized({}), await quantized({ lora: {} })]).toEqual([["lora"], []]);
  expect(await quantized({ lora: {}, device: "cuda", precision: "bfloat16" })).toEqual([]);
  expect(await quantized({ lora: {}, precision: "bfloat16" })).toEqual(["precision"]);
  expect(await keys({ device: "webgpu", precision: "bfloat16" })).toEqual(["precision"]);
  expect(await keys({ device: "webgpu", precision: "float16" })).toEqual([]);
  expect(await keys({ rewardNormalization: "standardize", rewardClip: 5 })).toEqual([]);
  const scaled = (algorithm: string, changes: JsonObject = {}) =>
    keys({ algorithm, rewardNormalization: "scale", ...changes });
  for (const algorithm of ["ppo", "dr-grpo", "rloo", "reinforce++"])
    expect(await scaled(algorithm)).toEqual([]);
  for (const algorithm of ["grpo", "dapo", "gspo", "reinforce++-baseline"]) {
    expect(await scaled(algorithm)).toEqual(["rewardNormalization"]);
    expect(await scaled(algorithm, { rewardClip: 5 })).toEqual([]);
    expect(await scaled(algorithm, { overlongMaximum: 1024 })).toEqual([]);
  }
  expect(await scaled("dr-grpo", { rewardNormalization: "standardize" })).toEqual(["rewardNormalization"]);
  expect(await keys({ algorithm: "grpo", credit: "turn", rewardClip: 5 })).toEqual(["rewardClip"]);
});

/** A pipeline of a policy with random weights whose sampler draws from all of its distribution. */
function surroundings(rollout: Partial<TrainerSurroundings>, policyTraits: Partial<PolicyTraits>) {
  const traits = { pretrained: false, restrictions: [], ...policyTraits };
  return { groupSize: 8, batchSize: 64, staleness: 0, ...rollout, policy: traits };
}

test("the learning rates depend on what is trained, if the pipeline gives none", () => {
  const rates = (changes: JsonObject, pretrained: boolean) => {
    const { learningRate: _, ...config } = filled(changes);
    const { config: resolved, warmStartLearningRate } = plugin.resolve!(
      config,
      surroundings({}, { pretrained }),
    );
    return [resolved.learningRate, warmStartLearningRate];
  };
  expect(rates({}, true)).toEqual([1e-6, 2e-5]);
  expect(rates({}, false)).toEqual([1e-4, 1e-3]);
  expect(rates({ lora: {} }, true)).toEqual([1e-4, 2e-4]);
  expect(plugin.resolve!(usualConfig, surroundings({}, { pretrained: true })).config).toEqual(usualConfig);
});

test("an update has 64 trajectories where steps have a multiple of them, else all of a step's, if the pipeline says nothing", () => {
  const minibatch = (batchSize: number, changes: JsonObject = {}) => {
    const { minibatchSize: _, ...config } = filled({});
    return plugin.resolve!({ ...config, ...changes }, surroundings({ batchSize }, {})).config.minibatchSize;
  };
  expect([8, 64, 96, 128].map((size) => minibatch(size))).toEqual([8, 64, 96, 64]);
  expect(minibatch(128, { minibatchSize: 32 })).toBe(32);
});

test("a sampler that draws from another distribution is corrected for, if the pipeline says nothing", () => {
  const correction = (changes: JsonObject, ...where: Parameters<typeof surroundings>) =>
    plugin.resolve!(filled(changes), surroundings(...where)).config.importanceCorrection;
  const restricted = { restrictions: ["sampling.topP is 0.95"] };
  expect(correction({}, {}, {})).toBeUndefined();
  expect(correction({}, {}, restricted)).toBe("token-truncate");
  expect(correction({}, { staleness: 1 }, {})).toBe("token-truncate");
  expect(correction({ importanceCorrection: "sequence-mask" }, {}, restricted)).toBe("sequence-mask");
  expect(correction({ importanceCorrection: "none" }, {}, restricted)).toBe("none");
});

describe("the manifest", () => {
  const { properties } = manifest.config;

  test("lists the algorithms", () => {
    expect(properties.algorithm.enum).toEqual(Object.keys(algorithmPresets));
  });

  test("has every setting of an algorithm", () => {
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(algorithmPresets.ppo)));
  });

  test("has the defaults of the algorithms", () => {
    for (const preset of Object.values(algorithmPresets)) {
      const filledIn = Object.entries(defaults).filter(([name]) => name in preset);
      expect(preset).toMatchObject(Object.fromEntries(filledIn));
    }
  });
});

test("settings are the algorithm's, but for what the configuration says; an older plan's lacks are filled in", () => {
  const settings = trainingSettings(readConfig({ algorithm: "dapo", clipHigh: 0.3, beta2: 0.9 }));
  const { clipHigh: _, ...dapo } = algorithmPresets.dapo;
  expect(settings).toMatchObject({ ...dapo, clipHigh: 0.3, betas: [0.9, 0.9], minibatchSize: 64, epochs: 1 });
  expect(Object.keys(settings)).not.toEqual(expect.arrayContaining(["threads"]));
});
