// `everturn/engine`: what policies, trainers and losses are made of. It loads ONNX Runtime.
export type { ConfigurationProblem } from "../contracts/configuration-problem.ts";
export type { DefinedPolicy, DefinedTrainer } from "../contracts/definitions.ts";
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
  SupervisedMetrics,
  SupervisedSettings,
  Trainer,
  TrainerFolders,
  TrainerPlugin,
  TrainerSurroundings,
  TrainingTrajectory,
} from "../contracts/trainer.ts";
export {
  type DefinedLoss,
  defineLoss,
  definePolicy,
  defineTrainer,
} from "../definitions/define-engine.ts";
export { endpointPolicy } from "../engines/endpoint-policy.ts";
export { enginePolicy } from "../engines/engine-policy.ts";
export type {
  Ask,
  EngineAction,
  EngineAnswer,
  EngineProtocol,
} from "../engines/engine-protocol.ts";
export { sglang } from "../engines/sglang.ts";
export { vllm } from "../engines/vllm.ts";
export { persistently } from "../files/persistently.ts";
export { type AlgorithmSettings, algorithmPresets, comparesTurns } from "../learning/algorithm.ts";
export { algorithmProblems, type SettingProblem } from "../learning/algorithm-problems.ts";
export { type ForecastOptions, forecastUpdates } from "../learning/forecast-updates.ts";
export type { LoraSettings } from "../learning/lora.ts";
export type { LossFunction, LossTensors } from "../learning/loss-function.ts";
export type { OptimizerState } from "../learning/optimizer-state.ts";
export { learningRateAt } from "../learning/schedule.ts";
export { plannedBytes, type StepPlan, stepPlanText } from "../learning/step-plan.ts";
export { createTrainer, type PolicyTrainer, type TrainerOptions } from "../learning/trainer.ts";
export { freshTrainerState, type TrainerState } from "../learning/trainer-state.ts";
export type { TrainedModel } from "../learning/training-graphs.ts";
export type { TrainingSettings } from "../learning/training-settings.ts";
export type { AdapterConfig } from "../models/adapter-config.ts";
export { type Adapter, adapterConfigFile, readAdapter } from "../models/adapter-folder.ts";
export { openWeights, readWeights } from "../models/checkpoint.ts";
export { importModel } from "../models/import-model.ts";
export { knownModelNames } from "../models/known-models.ts";
export type { ModelConfig } from "../models/model-config.ts";
export { parseModelConfig, readModelConfig } from "../models/model-config-file.ts";
export { modelPolicy, templateSettings } from "../models/model-policy.ts";
export { type ModelText, readModelText } from "../models/model-text.ts";
export {
  writeAdapterPolicyFolder,
  writeNextPolicyFolder,
  writePolicyFolder,
} from "../models/policy-folder.ts";
export { randomModelWeights } from "../models/random-weights.ts";
export {
  type ByteTensor,
  type LazyTensor,
  readSafetensors,
  readTensors,
  type Tensor,
  writeSafetensors,
} from "../models/safetensors.ts";
export { stopTokenIds, writeStopTokens } from "../models/stop-tokens.ts";
export { usualThreads } from "../models/usual-threads.ts";
export { type FrozenBase, readFrozenWeights } from "../models/weight-sources.ts";
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
} from "../onnx/elementwise.ts";
export type { FloatValue } from "../onnx/graph.ts";
export { requireRuntime } from "../onnx/require-runtime.ts";
export { targetOf, targetProblems } from "../onnx/target.ts";
export { loadLoss } from "../plugins/registry.ts";
export { forecastSampling, type SamplingAsked } from "../sampling/forecast-sampling.ts";
export { createSampler, type Sampler, type SamplerOptions } from "../sampling/sampler.ts";
export { beforeStopTexts } from "../sampling/stop-texts.ts";
export { createToolCallGrammar, type ToolCallGrammar } from "../sampling/tool-call-grammar.ts";
export { typicalTokens } from "../sampling/typical-tokens.ts";
export type { TemplateSettings } from "../tokens/fixed-template.ts";
export { createFraming, type Framing } from "../tokens/framing.ts";
export { templateFormat } from "../tokens/template-format.ts";
export { loadTokenizer, type Tokenizer } from "../tokens/tokenizer.ts";
export { readVocabulary, type Vocabulary } from "../tokens/vocabulary.ts";
