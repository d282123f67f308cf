import {
  comparesTurns,
  correctionReason,
  type JsonObject,
  type ResolvedTraining,
  type TrainerSurroundings,
} from "everturn/engine";
import { readConfig, trainingSettings, usualMinibatch } from "./settings.ts";

/**
 * Learning rates of policy-gradient and supervised steps, by the weights that are trained. A fully trained
 * pretrained model is easily damaged, low-rank matrices start at zero, and random weights have everything to
 * learn.
 */
const learningRates = {
  pretrained: { policyGradient: 1e-6, supervised: 2e-5 },
  lora: { policyGradient: 1e-4, supervised: 2e-4 },
  random: { policyGradient: 1e-4, supervised: 1e-3 },
};

/**
 * Fills in the learning rates, the minibatch size, and the importance correction where it is needed. Reports
 * whether turns are compared.
 */
export function resolveTraining(config: JsonObject, surroundings: TrainerSurroundings): ResolvedTraining {
  const { learningRate: given, minibatchSize, importanceCorrection } = config;
  const { batchSize } = surroundings;
  const trained = surroundings.policy.pretrained ? "pretrained" : "random";
  const { policyGradient, supervised } = learningRates[config.lora === undefined ? trained : "lora"];
  const settings = trainingSettings(readConfig(config));
  const isNeeded = correctionReason(surroundings) !== undefined;
  const correction = isNeeded && settings.importanceCorrection === "none" && "token-truncate";
  return {
    config: {
      ...config,
      learningRate: given ?? policyGradient,
      minibatchSize: minibatchSize ?? (batchSize % usualMinibatch === 0 ? usualMinibatch : batchSize),
      ...(importanceCorrection === undefined && correction && { importanceCorrection: correction }),
    },
    warmStartLearningRate: supervised,
    preferenceLearningRate: policyGradient,
    comparesTurns: comparesTurns(settings),
    portions: readConfig(config).dataParallel,
  };
}
