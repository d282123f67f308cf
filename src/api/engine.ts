// `everturn/engine`: building blocks of policies, trainers and losses. It loads ONNX Runtime.

export { EverturnError } from "../base/errors/everturn-error.ts";
export { makeFolder } from "../base/files/make-folder.ts";
export { persistently } from "../base/files/persistently.ts";
export type { ConfigurationProblem } from "../contracts/configuration-problem.ts";
export type { DefinedPolicy, DefinedTrainer } from "../contracts/definitions.ts";
export type { PlacedImage } from "../contracts/image-tokens.ts";
export type { JsonObject } from "../contracts/json.ts";
export type { Message, ToolDefinition } from "../contracts/message.ts";
export type {
  Generation,
  GenerationRequest,
  MaskedTokens,
  Policy,
  PolicyFraming,
  PolicyPlugin,
  PolicyTraits,
  SamplingKey,
  SamplingParameters,
  TokenizedText,
} from "../contracts/policy.ts";
export type {
  PolicyGradientMetrics,
  PolicyGradientSettings,
  ResolvedTraining,
  ServerStep,
  ServerUsage,
  StepSize,
  SupervisedMetrics,
  SupervisedSettings,
  TokenPrices,
  Trainer,
  TrainerFolders,
  TrainerPlugin,
  TrainerSurroundings,
  TrainingTrajectory,
} from "../contracts/trainer.ts";
export { endpointPolicy } from "../engine/inference-servers/endpoint-policy.ts";
export { keyProblems } from "../engine/inference-servers/key-problems.ts";
export { seedOf } from "../engine/inference-servers/sampling-seed.ts";
export { areLogProbabilities, serverAction } from "../engine/inference-servers/server-actions.ts";
export { enginePolicy } from "../engine/inference-servers/server-policy.ts";
export type {
  Ask,
  EngineAction,
  EngineAnswer,
  EngineProtocol,
} from "../engine/inference-servers/server-protocol.ts";
export { sglang } from "../engine/inference-servers/sglang.ts";
export { vllm } from "../engine/inference-servers/vllm.ts";
export { type AlgorithmSettings, algorithmPresets, comparesTurns } from "../engine/learning/algorithm.ts";
export { algorithmProblems, type SettingProblem } from "../engine/learning/algorithm-problems.ts";
export type { TokenSequence } from "../engine/learning/batch.ts";
export { configurationProblems, correctionReason } from "../engine/learning/configuration-problems.ts";
export { wholeCritic } from "../engine/learning/critic.ts";
export { type ForecastOptions, forecastUpdates } from "../engine/learning/forecast-updates.ts";
export type { LoraSettings } from "../engine/learning/lora.ts";
export type { LossFunction, LossTensors } from "../engine/learning/loss-function.ts";
export type { OptimizerState } from "../engine/learning/optimizer-state.ts";
export { pluginSteps } from "../engine/learning/plugin-steps.ts";
export type { ClippedSequence, RemoteModel, SequenceGradients } from "../engine/learning/remote-engine.ts";
export {
  type CriticModel,
  createRemoteTrainer,
  type RemoteTrainer,
  type RemoteTrainerOptions,
} from "../engine/learning/remote-trainer.ts";
export { learningRateAt } from "../engine/learning/schedule.ts";
export {
  readCritic,
  readTrainerState,
  writeCritic,
  writeTrainerState,
} from "../engine/learning/state-folder.ts";
export { type StepPasses, stepPasses } from "../engine/learning/step-passes.ts";
export { plannedBytes, type StepPlan, stepPlanText } from "../engine/learning/step-plan.ts";
export { createTrainer, type PolicyTrainer, type TrainerOptions } from "../engine/learning/trainer.ts";
export { freshTrainerState, type TrainerState } from "../engine/learning/trainer-state.ts";
export type { TrainedModel } from "../engine/learning/training-graphs.ts";
export { type TrainingSettings, usesClippedLoss } from "../engine/learning/training-settings.ts";
export { contextLength, type ModelConfig } from "../engine/models/config/model-config.ts";
export { parseModelConfig, readModelConfig } from "../engine/models/config/model-config-file.ts";
export { usualThreads } from "../engine/models/decode/usual-threads.ts";
export { readImageFraming } from "../engine/models/policy/image-text.ts";
export { importModel } from "../engine/models/policy/import-model.ts";
export { knownModelNames } from "../engine/models/policy/known-models.ts";
export { modelPolicy, templateSettings, textPolicy } from "../engine/models/policy/model-policy.ts";
export { type ModelText, readModelText } from "../engine/models/policy/model-text.ts";
export { stopTokenIds, writeStopTokens } from "../engine/models/policy/stop-tokens.ts";
export type { AdapterConfig } from "../engine/models/weights/adapter-config.ts";
export { type Adapter, adapterConfigFile, readAdapter } from "../engine/models/weights/adapter-folder.ts";
export {
  openVisionWeights,
  openWeights,
  readVisionWeights,
  readWeights,
} from "../engine/models/weights/checkpoint.ts";
export {
  copyPolicyFiles,
  writeAdapterPolicyFolder,
  writeNextPolicyFolder,
  writePolicyFolder,
} from "../engine/models/weights/policy-folder.ts";
export { randomModelWeights } from "../engine/models/weights/random-weights.ts";
export {
  type ByteTensor,
  type LazyTensor,
  readSafetensors,
  readTensors,
  type Tensor,
  writeSafetensors,
} from "../engine/models/weights/safetensors.ts";
export { languageWeights } from "../engine/models/weights/vision-weights.ts";
export { type FrozenBase, readFrozenWeights } from "../engine/models/weights/weight-sources.ts";
export {
  add,
  clip,
  div,
  exp,
  log,
  maximum,
  minimum,
  mul,
  negate,
  positive,
  sigmoid,
  softplus,
  sqrt,
  sub,
  tanh,
  where,
} from "../engine/onnx/elementwise.ts";
export type { FloatValue } from "../engine/onnx/graph.ts";
export { requireRuntime } from "../engine/onnx/require-runtime.ts";
export { targetOf, targetProblems } from "../engine/onnx/target.ts";
export { forecastSampling, type SamplingAsked } from "../engine/sampling/forecast-sampling.ts";
export { createSampler, type Sampler, type SamplerOptions } from "../engine/sampling/sampler.ts";
export { beforeStopTexts, stopTexts } from "../engine/sampling/stop-texts.ts";
export { createToolCallGrammar, type ToolCallGrammar } from "../engine/sampling/tool-call-grammar.ts";
export { typicalTokens } from "../engine/sampling/typical-tokens.ts";
export type { TemplateSettings } from "../engine/tokens/fixed-template.ts";
export { createFraming, type Framing } from "../engine/tokens/framing.ts";
export { templateFormat } from "../engine/tokens/template-format.ts";
export { loadTokenizer, type Tokenizer } from "../engine/tokens/tokenizer.ts";
export { readVocabulary, type Vocabulary } from "../engine/tokens/vocabulary.ts";
export { openTrainedVision, type TrainedVision } from "../engine/vision/open-trained-vision.ts";
export { openVision, type Vision } from "../engine/vision/open-vision.ts";
export { openPolicyVision, type PolicyVision } from "../engine/vision/policy-vision.ts";
export type { ImagePatches, ImageTiles, PreprocessedImage } from "../engine/vision/preprocessed-image.ts";
export {
  type DefinedLoss,
  defineLoss,
  definePolicy,
  defineTrainer,
} from "../plugin/define/define-engine.ts";
export { loadLoss } from "../plugin/registry/registry.ts";
