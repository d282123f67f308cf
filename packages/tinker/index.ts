export {
  type Checkpoint,
  type CopyOptions,
  type PageOptions,
  TinkerCheckpoints,
  type WeightsInfo,
} from "./checkpoints.ts";
export {
  type Capabilities,
  hostedUrl,
  type SessionOptions,
  TinkerClient,
  type TinkerClientOptions,
} from "./client.ts";
export { TinkerError, type TinkerErrorCode, type TinkerErrorDetails } from "./errors.ts";
export { TinkerFuture } from "./future.ts";
export type { ApiKey } from "./http/credential.ts";
export type { RetryPolicy } from "./http/send.ts";
export {
  type ExternalOptions,
  type LoadOptions,
  type PassOptions,
  type SaveForSamplerOptions,
  type SaveOptions,
  TinkerModel,
} from "./model.ts";
export { type FinishedOptions, type FinishedRequests, type SampleOptions, TinkerSampler } from "./sampler.ts";
export { type CustomLoss, type ModelParams, TinkerSession } from "./session.ts";
export type { Wire } from "./transport.ts";
export type {
  AdamParams,
  Chunk,
  CreatedModel,
  CustomForwardResult,
  Datum,
  ForwardResult,
  FutureKind,
  FutureResults,
  FutureTicket,
  LoadedWeights,
  LoraParams,
  LossConfig,
  LossName,
  ModelInput,
  RequestOptions,
  SampledSequence,
  SampleParams,
  SampleResult,
  SamplerTarget,
  SavedForSampler,
  SavedWeights,
  SequenceOptions,
  StepResult,
  SubmitOptions,
  Tensor,
  TensorInput,
  Tokens,
  TopTokens,
  UnloadedModel,
} from "./types.ts";
