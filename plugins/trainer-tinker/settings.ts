import { hostedUrl } from "@everturn/tinker";
import {
  algorithmPresets,
  comparesTurns,
  correctionReason,
  type JsonObject,
  type ResolvedTraining,
  type TrainerSurroundings,
  type TrainingSettings,
} from "everturn/engine";
import { defaults, type TrainerConfig } from "./config.ts";
import { profiles } from "./profiles.ts";
import type { OptimizerNumbers } from "./server-model.ts";

/** Learning rates of an adapter, which starts at zero. */
const learningRates = { policyGradient: 1e-4, supervised: 2e-4 };

/** Learning rate of a critic whose weights are all trained, and were pretrained. */
const pretrainedCriticRate = 1e-5;

/** Trajectories per update, if the number of trajectories in a step is a multiple. */
const usualMinibatch = 64;

/** A configuration with an adapter and a URL, which is empty if the pipeline lacks one. */
export type ServerTrainerConfig = TrainerConfig & { lora: NonNullable<TrainerConfig["lora"]>; url: string };

/** What the service of Thinking Machines needs in addition. */
const hosted = { url: hostedUrl, apiKeyVariable: "TINKER_API_KEY" };

/** Reads a configuration that matches the manifest's schema. Fills in settings that a plan lacks. */
export function readConfig(config: JsonObject): ServerTrainerConfig {
  const lora = { rank: 32, attention: true, mlp: true, unembedding: false, ...Object(config.lora) };
  return { ...defaults, ...usualAddress(config), ...Object(config), lora };
}

/** The address of the server that a configuration names, as far as it has a usual one. */
export function usualAddress({ server }: JsonObject): { url: string; apiKeyVariable?: string } {
  return server === "tinker" ? hosted : { url: "" };
}

/** Fills in the learning rates, the minibatch size, and what the server and the surroundings require. */
export function resolveTraining(given: JsonObject, surroundings: TrainerSurroundings): ResolvedTraining {
  const config = readConfig(given);
  const settings = trainingSettings(config);
  const { batchSize } = surroundings;
  const usual: JsonObject = {
    learningRate: learningRates.policyGradient,
    minibatchSize: batchSize % usualMinibatch === 0 ? usualMinibatch : batchSize,
  };
  if (config.server === "tinker") Object.assign(usual, hosted);
  if (settings.critic === "model" && config.criticModel !== undefined)
    usual.valueLearningRate = pretrainedCriticRate;
  if (profiles[config.server].clips) usual.gradientClip = 1;
  if (!samplesOnServer(surroundings)) usual.downloadAdapter = true;
  const isUncorrected = given.importanceCorrection === undefined && settings.importanceCorrection === "none";
  if (isUncorrected && correctionReason(surroundings) !== undefined)
    usual.importanceCorrection = "token-truncate";
  return {
    config: { ...usual, ...given },
    warmStartLearningRate: learningRates.supervised,
    preferenceLearningRate: learningRates.policyGradient,
    comparesTurns: comparesTurns(settings),
  };
}

/** Whether the policy samples from the server's checkpoints, as opposed to weights in the folders of versions. */
export function samplesOnServer({ policy }: TrainerSurroundings): boolean {
  return policy.trainers?.includes("trainer-tinker") === true;
}

/**
 * The settings of a configuration, based on those of its algorithm. The optimizer's are the server's business. Values
 * come from a critic.
 */
export function trainingSettings(config: TrainerConfig): TrainingSettings & { algorithm: string } {
  const { algorithm, learningRate = Number.NaN, minibatchSize = usualMinibatch, decaySteps = 1 } = config;
  const {
    server,
    url,
    apiKeyVariable,
    baseModel,
    lora,
    prices,
    callTokens,
    downloadAdapter,
    criticModel,
    criticArchitecture,
    ...numbers
  } = config;
  const settings = { ...algorithmPresets[algorithm], ...numbers };
  return {
    weightDecay: 0,
    ...(settings.advantages === "gae" && { critic: "model" as const }),
    ...settings,
    learningRate,
    minibatchSize,
    decaySteps,
    gradientClip: Number.POSITIVE_INFINITY,
  };
}

/** The optimizer's numbers apart from the learning rate: those of `trainer-onnx`. */
export function optimizerNumbers({
  beta2 = 0.95,
  weightDecay = 0,
  gradientClip,
}: TrainerConfig): Omit<OptimizerNumbers, "learningRate"> {
  return {
    beta1: 0.9,
    beta2,
    epsilon: 1e-8,
    weightDecay,
    ...(gradientClip !== undefined && { gradientClip }),
  };
}
