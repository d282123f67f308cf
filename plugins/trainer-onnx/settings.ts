import { algorithmPresets, type JsonObject, type TrainingSettings } from "everturn/engine";
import { defaults, type TrainerConfig } from "./config.ts";

/** Trajectories of one update, where steps have a multiple of so many. */
export const usualMinibatch = 64;

/** A configuration that the manifest's schema has checked; what it lacks, as an earlier release made the plan, is filled. */
export function readConfig(config: JsonObject): TrainerConfig {
  return { ...defaults, ...Object(config) };
}

/** The settings of a configuration: the algorithm's, but for what it says. The learning rate is there once it is resolved. */
export function trainingSettings(config: TrainerConfig): TrainingSettings {
  const {
    algorithm,
    learningRate = Number.NaN,
    minibatchSize = usualMinibatch,
    decaySteps = 1,
    beta2,
    ...given
  } = config;
  const {
    lora: _,
    device,
    precision,
    threads,
    maxTokensPerRun,
    memory,
    recompute,
    optimizerBits,
    ...numbers
  } = given;
  return {
    ...algorithmPresets[algorithm],
    ...numbers,
    learningRate,
    minibatchSize,
    decaySteps,
    betas: [0.9, beta2],
  };
}
