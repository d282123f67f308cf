import { algorithmPresets, type JsonObject, type TrainingSettings } from "everturn/engine";
import { defaults, type TrainerConfig } from "./config.ts";

/** Trajectories per update, if the number of trajectories in a step is a multiple. */
export const usualMinibatch = 64;

/**
 * Reads a configuration that matches the manifest's schema. Fills in settings that are missing from plans of
 * earlier releases.
 */
export function readConfig(config: JsonObject): TrainerConfig {
  return { ...defaults, ...Object(config) };
}

/**
 * The settings of a configuration, based on those of its algorithm. The learning rate is known once it is
 * resolved.
 */
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
    freezeVisionTower,
    device,
    precision,
    threads,
    maxTokensPerRun,
    memory,
    recompute,
    optimizerBits,
    dataParallel,
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
