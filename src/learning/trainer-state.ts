import { EverturnError } from "../errors/everturn-error.ts";
import { checkModelWeights, modelWeightShapes } from "../models/model-weights.ts";
import type { Tensor } from "../models/safetensors.ts";
import { elementCount } from "../onnx/element-count.ts";
import type { Moments } from "./adamw.ts";
import { adapterShapes, freshAdapter } from "./lora.ts";
import type { LossScale } from "./loss-scale.ts";
import type { RunningMoments } from "./reward-normalization.ts";
import { type TrainedModel, trainedWeightShapes, valueHeadShapes } from "./training-graphs.ts";

/** All that a trainer needs to go on exactly where it was. */
export interface TrainerState {
  /** By Hugging Face's names, but for quantized ones. With an adapter they stay as they are. */
  weights: Map<string, Tensor>;
  /** LoRA's matrices, by PEFT's names without their prefix; empty where all weights are trained. */
  adapter: Map<string, Tensor>;
  /** `value_head.weight` [1, hidden] and `value_head.bias` [1]. */
  valueHead: Map<string, Tensor>;
  /** Adam's moments: `first/<parameter>` and `second/<parameter>`. */
  optimizer: Map<string, Tensor>;
  /** Updates of the optimizer so far. */
  updates: number;
  /** Of a critic that is a model of its own; absent without one. */
  critic?: TrainerState;
  /** Policy-gradient steps so far. */
  policyGradientSteps: number;
  /** The KL term's coefficient, where it adapts. */
  klCoefficient?: number;
  /** Of all rewards so far, where they are normalized. */
  rewards?: RunningMoments;
  /** With float16 alone. */
  lossScale?: LossScale;
}

/**
 * A state for weights that were never trained with this optimizer: value head and moments zero, and an adapter, if
 * there is one, that changes nothing yet. It shares the weights' memory; the seed draws the adapter.
 */
export function freshTrainerState(
  model: TrainedModel,
  weights: ReadonlyMap<string, Tensor>,
  seed = 0,
): TrainerState {
  const adapter = model.lora ? freshAdapter(model.config, model.lora, seed) : new Map<string, Tensor>();
  const valueHead = new Map([...valueHeadShapes(model.config)].map(([name, shape]) => [name, zeros(shape)]));
  const state = { weights: new Map(weights), adapter, valueHead, updates: 0, policyGradientSteps: 0 };
  const optimizer = new Map(
    [...trainedParameters({ ...state, optimizer: new Map() })].flatMap(
      ([name, { shape }]): [string, Tensor][] => [
        [`first/${name}`, zeros(shape)],
        [`second/${name}`, zeros(shape)],
      ],
    ),
  );
  return { ...state, optimizer };
}

/** What training graphs read: weights, adapter and value head. */
export function parametersOf({ weights, adapter, valueHead }: TrainerState): Map<string, Tensor> {
  return new Map([...weights, ...adapter, ...valueHead]);
}

/** What is trained: the adapter, or all weights; and the value head. */
export function trainedParameters({ weights, adapter, valueHead }: TrainerState): Map<string, Tensor> {
  return new Map([...(adapter.size > 0 ? adapter : weights), ...valueHead]);
}

/** The moments in a state, by parameter; they share its memory. */
export function momentsOf(state: TrainerState): Moments {
  const named = (prefix: string) =>
    new Map(
      [...trainedParameters(state).keys()].map((name) => [
        name,
        state.optimizer.get(`${prefix}/${name}`)!.data,
      ]),
    );
  return { first: named("first"), second: named("second") };
}

/** Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID unless the state belongs to the model. */
export function checkTrainerState(model: TrainedModel, state: TrainerState): void {
  const { config, lora, base } = model;
  const own = trainedWeightShapes(model);
  const notWanted = [...modelWeightShapes(config)].filter(([name]) => !own.has(name));
  const elsewhere = new Map<string, { shape: readonly number[] }>(base?.quantized);
  for (const [name, shape] of notWanted) elsewhere.set(name, { shape });
  checkModelWeights(config, state.weights, elsewhere);
  const adapter = lora ? adapterShapes(config, lora) : new Map<string, number[]>();
  for (const [name, shape] of adapter) checkShape(name, shape, state.adapter);
  const strange = [...state.adapter.keys()].find((name) => !adapter.has(name));
  if (strange !== undefined) throw invalid(`${strange} belongs to no adapter of this trainer`);
  for (const [name, shape] of valueHeadShapes(config)) checkShape(name, shape, state.valueHead);
  for (const [name, { shape }] of trainedParameters(state)) {
    checkShape(`first/${name}`, shape, state.optimizer);
    checkShape(`second/${name}`, shape, state.optimizer);
  }
}

/** Throws unless these are the weights, or the adapter, of a reference policy of the model. */
export function checkReference({ config, lora }: TrainedModel, tensors: ReadonlyMap<string, Tensor>): void {
  if (lora) for (const [name, shape] of adapterShapes(config, lora)) checkShape(name, shape, tensors);
  else checkModelWeights(config, tensors);
}

function checkShape(name: string, shape: readonly number[], tensors: ReadonlyMap<string, Tensor>): void {
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
