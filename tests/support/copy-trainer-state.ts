import type { TrainerState } from "../../src/learning/trainer-state.ts";
import type { Tensor } from "../../src/models/safetensors.ts";

/** A copy of all that an update changes; weights under an adapter are shared. */
export function copyTrainerState(state: TrainerState): TrainerState {
  return {
    ...state,
    ...(state.critic && { critic: copyTrainerState(state.critic) }),
    weights: state.adapter.size > 0 ? new Map(state.weights) : copyTensors(state.weights),
    adapter: copyTensors(state.adapter),
    valueHead: copyTensors(state.valueHead),
    optimizer: copyTensors(state.optimizer),
  };
}

function copyTensors(tensors: ReadonlyMap<string, Tensor>): Map<string, Tensor> {
  return new Map([...tensors].map(([name, { shape, data }]) => [name, { shape, data: data.slice() }]));
}
