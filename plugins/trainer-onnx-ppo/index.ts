import { join } from "node:path";
import {
  createTrainer,
  freshTrainerState,
  type JsonObject,
  readModelConfig,
  readSafetensors,
  type TrainerPlugin,
  warmupThenCosine,
  writeNextPolicyFolder,
} from "everturn/plugin";
import { readTrainerState, writeTrainerState } from "./state-folder.ts";

const weightsOf = (folder: string) => readSafetensors(join(folder, "model.safetensors"));

/** PPO with a value head, generalized advantages, clipped ratios and a KL term, on ONNX Runtime. */
const plugin: TrainerPlugin = {
  async open(folders, config, seed) {
    const architecture = await readModelConfig(join(folders.policy, "config.json"));
    const weights = await weightsOf(folders.policy);
    const state =
      folders.state === undefined
        ? freshTrainerState(architecture, weights)
        : await readTrainerState(folders.state, weights);
    const reference =
      folders.reference === undefined ? {} : { reference: await weightsOf(folders.reference) };
    const hyperparameters = hyperparametersOf(config);
    const threads = Number(config.threads);
    const trainer = createTrainer({
      config: architecture,
      state,
      ...reference,
      hyperparameters,
      seed,
      threads,
    });
    let supervisedSteps = state.updates;
    return {
      supervisedStep: (batch, { learningRate, steps }) =>
        trainer.supervisedStep(batch, supervisedRate(learningRate, steps, supervisedSteps++)),
      async policyGradientStep(trajectories) {
        const { tokens: _, ...metrics } = await trainer.ppoStep(trajectories);
        return metrics;
      },
      async save(policyFolder, stateFolder) {
        const saved = trainer.state();
        await writeNextPolicyFolder(policyFolder, folders.initial, saved.weights);
        await writeTrainerState(stateFolder, saved);
      },
      close: () => trainer.close(),
    };
  },
};

export default plugin;

/** The warm start's learning rate: rising over the first 8 % of its steps, then a cosine down to 5 %. */
function supervisedRate(learningRate: number, steps: number, step: number): number {
  const warmupSteps = Math.round(0.08 * steps);
  return warmupThenCosine({ learningRate, warmupSteps, steps, finalFraction: 0.05 }, step);
}

/** The configuration, which the schema of everturn.plugin.json has checked and filled. */
function hyperparametersOf(config: JsonObject) {
  const number = (name: string) => Number(config[name]);
  return {
    learningRate: number("learningRate"),
    warmupSteps: number("warmupSteps"),
    epochs: number("epochs"),
    minibatchSize: number("minibatchSize"),
    clipLow: number("clip"),
    clipHigh: number("clip"),
    valueClip: number("valueClip"),
    valueCoefficient: number("valueCoefficient"),
    klCoefficient: number("klCoefficient"),
    entropyCoefficient: number("entropyCoefficient"),
    gamma: number("gamma"),
    lambda: number("lambda"),
    gradientClip: number("gradientClip"),
    weightDecay: number("weightDecay"),
    betas: [0.9, number("beta2")] as const,
  };
}
