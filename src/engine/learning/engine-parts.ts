import type { Device } from "../devices/device.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import type { DeviceTensor } from "../onnx/session.ts";
import type { AdamW } from "./adamw.ts";
import type { EngineModels } from "./engine-models.ts";
import type { EngineWeights, Parameters } from "./engine-weights.ts";
import type { LearningRates } from "./learning-rates.ts";
import type { PassTokens } from "./pass-splits.ts";
import type { StepPlanner } from "./step-planner.ts";
import type { TrainerState } from "./trainer-state.ts";
import type { TrainedModel } from "./training-graphs.ts";
import type { UpdateSettings } from "./update.ts";

/** What an engine scores and updates with. */
export interface EngineParts {
  trained: TrainedModel;
  state: TrainerState;
  device: Device;
  settings: Omit<UpdateSettings, keyof LearningRates>;
  /** Bytes of memory that nobody has taken; default: of this process's. */
  available: (() => number) | undefined;
  /** How many tokens a pass may have. */
  tokens: PassTokens;
  optimizer: AdamW;
  models: EngineModels;
  weights: EngineWeights;
  planner(): Promise<StepPlanner>;
}

/** The parameters of these names, as a model's inputs. */
export function select(
  parameters: Parameters,
  names: readonly string[],
): Record<string, Tensor | DeviceTensor> {
  return Object.fromEntries(names.map((name) => [name, parameters.get(name)!]));
}
