import { defined } from "../../src/base/records/defined.ts";
import type { TrainerState } from "../../src/engine/learning/trainer-state.ts";

/** A copy of all that an update changes; weights under an adapter are shared. */
export function copyTrainerState(state: TrainerState): TrainerState {
  return defined({
    ...state,
    critic: state.critic && copyTrainerState(state.critic),
    weights: state.adapter.size > 0 ? new Map(state.weights) : copyTensors(state.weights),
    adapter: copyTensors(state.adapter),
    valueHead: copyTensors(state.valueHead),
    optimizer: copyTensors(state.optimizer),
  });
}

function copyTensors<Kind extends { data: { slice(): unknown } }>(
  tensors: ReadonlyMap<string, Kind>,
): Map<string, Kind> {
  return new Map([...tensors].map(([name, tensor]) => [name, { ...tensor, data: tensor.data.slice() }]));
}
