import onnx from "@everturn/trainer-onnx";
import { defineTrainer } from "everturn/engine";

const settings = {
  algorithm: "grpo",
  threads: 1,
  maxTokensPerRun: 1024,
  minibatchSize: 4,
  epochs: 1,
  warmupSteps: 0,
  finalFraction: 0,
  gradientClip: 1,
  weightDecay: 0,
  beta2: 0.95,
};

/** Everturn's own trainer with all but its rate decided. */
export default defineTrainer({
  capabilities: { files: true },
  config: {
    type: "object",
    additionalProperties: false,
    properties: { rate: { type: "number", exclusiveMinimum: 0, default: 1e-3 } },
  },
  resolve: (config, surroundings) => ({
    ...onnx.resolve?.({}, surroundings),
    config,
    warmStartLearningRate: Number(config.rate),
  }),
  open: (folders, { rate }, seed, loss) =>
    onnx.open(folders, { ...settings, learningRate: Number(rate) }, seed, loss),
});
