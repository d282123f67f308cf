import { EverturnError } from "../errors/everturn-error.ts";
import type { ModelConfig } from "../models/model-config.ts";
import { checkModelWeights } from "../models/model-weights.ts";
import type { Tensor } from "../models/safetensors.ts";
import type { Moments } from "./adamw.ts";
import { valueHeadShapes } from "./training-graphs.ts";

/** All that a trainer needs to go on exactly where it was. */
export interface TrainerState {
  /** By Hugging Face's names. */
  weights: Map<string, Tensor>;
  /** `value_head.weight` [1, hidden] and `value_head.bias` [1]. */
  valueHead: Map<string, Tensor>;
  /** Adam's moments: `first/<parameter>` and `second/<parameter>`. */
  optimizer: Map<string, Tensor>;
  /** Updates of the optimizer so far. */
  updates: number;
  /** Policy-gradient steps so far. */
  policyGradientSteps: number;
}

/** A state for weights that were never trained with this optimizer: value head and moments zero. */
export function freshTrainerState(config: ModelConfig, weights: ReadonlyMap<string, Tensor>): TrainerState {
  const valueHead = new Map([...valueHeadShapes(config)].map(([name, shape]) => [name, zeros(shape)]));
  const optimizer = new Map(
    [...weights, ...valueHead].flatMap(([name, { shape }]): [string, Tensor][] => [
      [`first/${name}`, zeros(shape)],
      [`second/${name}`, zeros(shape)],
    ]),
  );
  return { weights: copyTensors(weights), valueHead, optimizer, updates: 0, policyGradientSteps: 0 };
}

/** A copy that shares no memory. */
export function copyTrainerState(state: TrainerState): TrainerState {
  return {
    ...state,
    weights: copyTensors(state.weights),
    valueHead: copyTensors(state.valueHead),
    optimizer: copyTensors(state.optimizer),
  };
}

/** Weights and value head together: all that is trained. */
export function parametersOf(state: TrainerState): Map<string, Tensor> {
  return new Map([...state.weights, ...state.valueHead]);
}

/** The moments in a state, by parameter; they share its memory. */
export function momentsOf(state: TrainerState): Moments {
  const named = (prefix: string) =>
    new Map(
      [...parametersOf(state).keys()].map((name) => [name, state.optimizer.get(`${prefix}/${name}`)!.data]),
    );
  return { first: named("first"), second: named("second") };
}

/** Throws MODEL_WEIGHTS_MISMATCH or TRAINING_STATE_INVALID unless the state belongs to the configuration. */
export function checkTrainerState(config: ModelConfig, state: TrainerState): void {
  checkModelWeights(config, state.weights);
  for (const [name, shape] of valueHeadShapes(config)) checkShape(name, shape, state.valueHead);
  for (const [name, { shape }] of parametersOf(state)) {
    checkShape(`first/${name}`, shape, state.optimizer);
    checkShape(`second/${name}`, shape, state.optimizer);
  }
}

function checkShape(name: string, shape: readonly number[], tensors: ReadonlyMap<string, Tensor>): void {
  const found = tensors.get(name)?.shape;
  if (found?.join() === shape.join()) return;
  const is = found ? `[${found.join(", ")}]` : "missing";
  const reason = `${name} should be [${shape.join(", ")}], but is ${is}`;
  throw new EverturnError("TRAINING_STATE_INVALID", { reason });
}

function zeros(shape: number[]): Tensor {
  return { shape, data: new Float32Array(shape.reduce((total, size) => total * size, 1)) };
}

function copyTensors(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  return new Map([...tensors].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));
}
