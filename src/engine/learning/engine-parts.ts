import type { Device } from "../devices/device.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import type { DeviceTensor } from "../onnx/model-session.ts";
import type { TrainedImages } from "../vision/trained-images.ts";
import type { AdamW } from "./adamw.ts";
import type { TokenSequence } from "./batch.ts";
import type { EngineModels } from "./engine-models.ts";
import type { EngineWeights, Parameters } from "./engine-weights.ts";
import type { LearningRates } from "./learning-rates.ts";
import type { PassTokens } from "./pass-splits.ts";
import type { StepPlanner } from "./step-planner.ts";
import type { TrainerState } from "./trainer-state.ts";
import type { TrainedModel } from "./training-graphs.ts";
import type { UpdateSettings } from "./update.ts";

/** The parts of an engine for scores and updates. */
export interface EngineParts {
  trained: TrainedModel;
  state: TrainerState;
  device: Device;
  settings: Omit<UpdateSettings, keyof LearningRates>;
  /** Returns the available bytes of memory. Default: this process's. */
  available: (() => number) | undefined;
  /** Most tokens of a pass. */
  tokens: PassTokens;
  optimizer: AdamW;
  models: EngineModels;
  weights: EngineWeights;
  planner(): Promise<StepPlanner>;
  /** Absent unless the vision part is trained. */
  images: TrainedImages | undefined;
  /** Throws TRAINER_CLOSED once the engine is being closed. */
  checkOpen(): void;
}

/** Returns the ids of sequences, in order. */
export function* idsOf(sequences: readonly TokenSequence[]): Generator<number> {
  for (const { tokens } of sequences) yield* tokens;
}

/** Returns the parameters of these names as a model's inputs. */
export function select(
  parameters: Parameters,
  names: readonly string[],
): Record<string, Tensor | DeviceTensor> {
  return Object.fromEntries(names.map((name) => [name, parameters.get(name)!]));
}
