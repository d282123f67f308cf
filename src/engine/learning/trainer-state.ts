import { EverturnError } from "../../base/errors/everturn-error.ts";
import { checkModelWeights, checkShapes } from "../models/weights/model-weights.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import { elementCount } from "../onnx/element-count.ts";
import type { Moments } from "./adamw-rows.ts";
import { adapterShapes, freshAdapter } from "./lora.ts";
import type { LossScale } from "./loss-scale.ts";
import { freshMoments, momentsIn, type OptimizerState } from "./optimizer-state.ts";
import type { RunningMoments } from "./reward-normalization.ts";
import { type TrainedModel, trainedWeightShapes, valueHeadShapes } from "./training-graphs.ts";

/** The complete state of a trainer, from which it continues exactly. */
export interface TrainerState {
  /** By Hugging Face's names, without frozen ones that stay in files. With an adapter they don't change. */
  weights: Map<string, Tensor>;
  /** LoRA's matrices, by PEFT's names without their prefix. Empty if all weights are trained. */
  adapter: Map<string, Tensor>;
  /** `value_head.weight` [1, hidden] and `value_head.bias` [1]. */
  valueHead: Map<string, Tensor>;
  /** Adam's moments: `first/<parameter>` and `second/<parameter>`. Those in 8 bits also have `scales/…`. */
  optimizer: OptimizerState;
  /** The optimizer's updates so far. */
  updates: number;
  /** The state of a critic that is a separate model. Absent without one. */
  critic?: TrainerState;
  /** The number of policy-gradient steps so far. */
  policyGradientSteps: number;
  /** The KL term's coefficient, if it adapts. */
  klCoefficient?: number;
  /** Of all rewards so far, if they are normalized. */
  rewards?: RunningMoments;
  /** Set only with float16. */
  lossScale?: LossScale;
}

/**
 * Returns a state for weights that were never trained with this optimizer. Value head and moments are zero, and an
 * adapter changes nothing yet. The state shares the weights' memory. The seed determines the adapter. Moments of large
 * matrices take 8 bits per number if requested (arXiv 2110.02861; CPU only). Default: 32.
 */
export function freshTrainerState(
  model: TrainedModel,
  weights: ReadonlyMap<string, Tensor>,
  seed = 0,
  optimizerBits: 8 | 32 = 32,
): TrainerState {
  const adapter = model.lora ? freshAdapter(model.config, model.lora, seed) : new Map<string, Tensor>();
  const valueHead = new Map([...valueHeadShapes(model.config)].map(([name, shape]) => [name, zeros(shape)]));
  const state = { weights: new Map(weights), adapter, valueHead, updates: 0, policyGradientSteps: 0 };
  const parameters = trainedParameters({ ...state, optimizer: new Map() });
  return { ...state, optimizer: freshMoments(parameters, optimizerBits) };
}

/** Returns the parameters that training graphs read: weights, adapter and value head. */
export function parametersOf({ weights, adapter, valueHead }: TrainerState): Map<string, Tensor> {
  return new Map([...weights, ...adapter, ...valueHead]);
}

/** Returns the trained parameters: the adapter, or all weights, and the value head. */
export function trainedParameters({ weights, adapter, valueHead }: TrainerState): Map<string, Tensor> {
  return new Map([...(adapter.size > 0 ? adapter : weights), ...valueHead]);
}

/** Returns the moments in a state, by parameter. They share its memory. */
export function momentsOf(state: TrainerState): Map<string, Moments> {
  return momentsIn(state.optimizer, trainedParameters(state));
}

/** Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID unless the state belongs to the model. */
export function checkTrainerState(model: TrainedModel, state: TrainerState): void {
  const { config, lora, base } = model;
  checkShapes(trainedWeightShapes(model), state.weights, base?.frozen);
  const adapter = lora ? adapterShapes(config, lora) : new Map<string, number[]>();
  for (const [name, shape] of adapter) checkShape(name, shape, state.adapter);
  const strange = [...state.adapter.keys()].find((name) => !adapter.has(name));
  if (strange !== undefined) throw invalid(`${strange} belongs to no adapter of this trainer`);
  for (const [name, shape] of valueHeadShapes(config)) checkShape(name, shape, state.valueHead);
  const moments = momentsOf(state);
  for (const [name, { shape }] of trainedParameters(state)) {
    checkShape(`first/${name}`, shape, state.optimizer);
    checkShape(`second/${name}`, shape, state.optimizer);
    if (!moments.has(name)) throw invalid(`the moments of ${name} are codes without a scale for each block`);
  }
}

/** Throws unless these are the weights, or the adapter, of a reference policy of the model. */
export function checkReference(
  { config, lora }: TrainedModel,
  tensors: ReadonlyMap<string, { shape: readonly number[] }>,
): void {
  if (lora) for (const [name, shape] of adapterShapes(config, lora)) checkShape(name, shape, tensors);
  else checkModelWeights(config, tensors);
}

function checkShape(
  name: string,
  shape: readonly number[],
  tensors: ReadonlyMap<string, { shape: readonly number[] }>,
): void {
  const found = tensors.get(name)?.shape;
  if (found?.join() === shape.join()) return;
  const is = found ? `[${found.join(", ")}]` : "missing";
  throw invalid(`${name} should be [${shape.join(", ")}], but is ${is}`);
}

function invalid(reason: string): EverturnError {
  return new EverturnError("TRAINING_STATE_INVALID", { reason });
}

function zeros(shape: number[]): Tensor {
  return { shape, data: new Float32Array(elementCount(shape)) };
}
