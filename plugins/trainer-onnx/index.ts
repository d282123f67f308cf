import { join } from "node:path";
import {
  type ConfigurationProblem,
  configurationProblems,
  createTrainer,
  forecastUpdates,
  freshTrainerState,
  loadLoss,
  openTrainedVision,
  openVision,
  type PlacedImage,
  type PolicyTraits,
  parseModelConfig,
  plannedBytes,
  pluginSteps,
  readModelConfig,
  readTrainerState,
  type StepPlan,
  stepPlanText,
  type TrainerPlugin,
  type TrainerState,
  type TrainingSettings,
  targetProblems,
  usualThreads,
  writeTrainerState,
} from "everturn/engine";
import type { TrainerConfig } from "./config.ts";
import { readPolicy, writePolicy } from "./policy-files.ts";
import { resolveTraining } from "./resolve.ts";
import { readConfig, trainingSettings } from "./settings.ts";

/** Trains with policy-gradient algorithms and supervised steps on ONNX Runtime. */
const plugin: TrainerPlugin = {
  async open(folders, given, seed, lossPlugin) {
    const config = readConfig(given);
    const { device, precision, lora, freezeVisionTower } = config;
    const model = {
      config: await readModelConfig(join(folders.initial, "config.json")),
      ...(lora !== undefined && { lora }),
    };
    const threads = config.threads ?? usualThreads(model.config, 2);
    const { reference, base, ...policy } = await readPolicy(folders, config, computesExactly(config));
    const state =
      folders.state === undefined
        ? startingState(model, policy, seed, config.optimizerBits)
        : await readTrainerState(folders.state, policy);
    const trainedVision = freezeVisionTower
      ? undefined
      : await openTrainedVision(folders.initial, model.config, state, {
          reference: folders.reference,
          threads,
        });
    const vision = trainedVision ?? (await openVision(folders.initial, model.config, { threads }));
    const placer = vision && {
      embeddings: vision.embeddings,
      place: (tokens: readonly number[], images: readonly PlacedImage[]) =>
        vision.place(tokens, images, folders.readImage),
    };
    const loss = lossPlugin && (await loadLoss(lossPlugin));
    const training: TrainingSettings = {
      ...trainingSettings(config),
      ...(loss && { loss: (tokens) => loss(tokens, lossPlugin.config) }),
    };
    const trainer = createTrainer({
      ...model,
      ...(base && { base }),
      state,
      ...(reference && { reference }),
      images: trainedVision?.images,
      settings: training,
      seed,
      device,
      precision,
      threads,
      ...planSettings(config),
      onPlan: tellPlan,
      ...(folders.failures !== undefined && { failures: folders.failures }),
    });
    let supervisedSteps = state.updates + (state.lossScale?.skipped ?? 0);
    return {
      ...pluginSteps(trainer, () => supervisedSteps++, placer),
      async save(policyFolder, stateFolder) {
        await trainer.settle();
        await writePolicy(policyFolder, folders.initial, trainer.state, config, model.config);
        await writeTrainerState(stateFolder, trainer.state);
      },
      async close() {
        await trainer.close();
        await vision?.close();
      },
    };
  },

  resolve: resolveTraining,

  forecast(given, { config: text, matrices }, updates) {
    const config = readConfig(given);
    if (!computesExactly(config)) return undefined;
    const { lora, optimizerBits, freezeVisionTower } = config;
    const settings = trainingSettings(config);
    const options = {
      config: parseModelConfig(text, "config.json"),
      matrices,
      optimizerBits,
      trainsVision: !freezeVisionTower,
      settings,
      ...(lora !== undefined && { lora }),
      ...planSettings(config),
    };
    const sizes = updates.map(({ of, count, tokens }) => {
      return { of, count: of === "trajectories" ? Math.min(settings.minibatchSize, count) : count, tokens };
    });
    return forecastUpdates(options, sizes);
  },

  check(given, surroundings) {
    const config = readConfig(given);
    const settings = trainingSettings(config);
    const problems = configurationProblems(given, { ...settings, algorithm: config.algorithm }, surroundings);
    problems.push(...quantizationProblems(config, surroundings.policy), ...targetProblems(given));
    problems.push(...visionProblems(config, surroundings.policy));
    if (given.critic === "model" && given.valueCoefficient !== undefined) {
      const reason = `is ${given.valueCoefficient}, but critic is model, whose loss is separate from the policy's`;
      problems.push({ key: "valueCoefficient", reason, help: "Remove it." });
    }
    if (config.optimizerBits === 8 && config.device !== "cpu") {
      const help = "Remove it, or take the device cpu.";
      const reason = `is 8, which the device ${config.device} does not have`;
      problems.push({ key: "optimizerBits", reason, help });
    }
    problems.push(...dataParallelProblems(config, settings));
    return problems;
  },
};

export default plugin;

/** The settings for planning updates, with memory in bytes. */
function planSettings({ maxTokensPerRun, recompute, memory, dataParallel }: TrainerConfig) {
  return {
    sharesGradients: dataParallel !== undefined,
    ...(maxTokensPerRun !== undefined && { maxTokensPerRun }),
    ...(recompute !== undefined && { recompute }),
    ...(memory !== undefined && { memory: memory * 2 ** 20 }),
  };
}

/** Portions are computed on the CPU, and a portion has at least one trajectory. */
function dataParallelProblems(
  { dataParallel, device, freezeVisionTower }: TrainerConfig,
  { minibatchSize }: TrainingSettings,
): ConfigurationProblem[] {
  const key = "dataParallel";
  if (dataParallel === undefined) return [];
  if (device !== "cpu") {
    const reason = `is ${dataParallel}, but the device ${device} computes whole updates`;
    return [{ key, reason, help: "Remove it, or take the device cpu." }];
  }
  if (!freezeVisionTower) {
    const reason = `is ${dataParallel}, but freezeVisionTower is false, and one trainer trains the vision part`;
    return [{ key, reason, help: "Remove one of the two." }];
  }
  if (dataParallel <= minibatchSize) return [];
  const reason = `is ${dataParallel}, but an update has only ${minibatchSize} trajectories`;
  return [{ key, reason, help: `Set it to ${minibatchSize} or less, or raise minibatchSize.` }];
}

/** Prints to standard error what a step of a large model will need. */
function tellPlan(plan: StepPlan): void {
  if (plannedBytes(plan) >= 1e9) process.stderr.write(`${stepPlanText(plan)}\n`);
}

/**
 * Whether to compute in float32 on the CPU, which is the only device whose operators widen frozen
 * half-precision matrices.
 */
function computesExactly({ device, precision }: TrainerConfig): boolean {
  return device === "cpu" && precision === "float32";
}

/** Quantized frozen weights require an adapter, and half precision requires a GPU. */
function quantizationProblems(config: TrainerConfig, { quantization }: PolicyTraits): ConfigurationProblem[] {
  if (quantization === undefined) return [];
  if (config.lora === undefined) {
    const help = "Add lora: {}, or train a model of floats, without policy.config.quantization.";
    return [
      { key: "lora", reason: `is missing, but the policy's matrices are kept in ${quantization}`, help },
    ];
  }
  if (config.device !== "cpu" || config.precision === "float32") return [];
  const help = "Remove it, or add a device, or train a model of floats, without policy.config.quantization.";
  const reason = `is ${config.precision} on the CPU, but the policy's matrices are kept in ${quantization}`;
  return [{ key: "precision", reason, help }];
}

/** The vision part is trained where all weights are, in float32 on the CPU. */
function visionProblems(config: TrainerConfig, policy: PolicyTraits): ConfigurationProblem[] {
  const { freezeVisionTower, lora, device, precision, critic } = config;
  const key = "freezeVisionTower";
  const help = "Remove it: the vision part is then frozen.";
  if (freezeVisionTower) return [];
  if (policy.readsImages !== true) return [{ key, reason: "is false, but the policy reads only text", help }];
  const problems: [isOne: boolean, reason: string, help: string][] = [
    [lora !== undefined, "there is lora, whose versions contain no vision part", "Or remove lora."],
    [
      device !== "cpu",
      `the device is ${device}, and the vision part is trained on the CPU`,
      "Or remove device.",
    ],
    [
      precision !== "float32",
      `the precision is ${precision}, and the vision part is trained in float32`,
      "Or remove precision.",
    ],
    [
      critic === "model",
      "critic is model, which would have no vision part of its own",
      "Or take the critic head.",
    ],
  ];
  return problems.flatMap(([isOne, reason, way]) =>
    isOne ? [{ key, reason: `is false, but ${reason}`, help: `${help} ${way}` }] : [],
  );
}

/** A new value head and optimizer, with the policy's adapter if it has one. */
function startingState(
  model: Parameters<typeof freshTrainerState>[0],
  { weights, adapter }: Pick<TrainerState, "weights" | "adapter">,
  seed: number,
  optimizerBits: 8 | 32,
): TrainerState {
  const fresh = freshTrainerState(model, weights, seed, optimizerBits);
  return adapter.size > 0 ? { ...fresh, adapter } : fresh;
}
