import type { Tensor } from "../models/weights/safetensors.ts";
import { type TrainerState, trainedParameters } from "./trainer-state.ts";
import { gradientName, sumName } from "./training-graphs.ts";

/** The memory in which gradients of several passes are added up. */
export interface GradientRooms {
  /** By parameter. */
  readonly rooms: ReadonlyMap<string, Float32Array>;
  /** The destinations of outputs, by output name. */
  readonly into: ReadonlyMap<string, Float32Array>;
  /** Whether the model can add all of them itself. */
  readonly canAdd: boolean;
  /** Returns the sums of parameters before the first pass as inputs. They are zeros in the memory of the outputs. */
  zeros(names: readonly string[]): Record<string, Tensor>;
}

/** Returns the optimizer's rooms, by parameter, for the gradients of a state. */
export function gradientRooms(
  rooms: ReadonlyMap<string, Float32Array>,
  state: TrainerState,
  hasAdapter: boolean,
): GradientRooms {
  const trained = trainedParameters(state);
  return {
    rooms,
    into: new Map([...rooms].map(([name, data]) => [gradientName(name), data])),
    // Adapters' gradients are small. A model that adds them would be a second one, because updates of one pass use a
    // model that doesn't.
    canAdd: !hasAdapter && [...trained.keys()].every((name) => rooms.has(name)),
    zeros(names) {
      const sums = names.map((name) => {
        const data = rooms.get(name)!.fill(0);
        return [sumName(name), { shape: trained.get(name)!.shape, data }] as const;
      });
      return Object.fromEntries(sums);
    },
  };
}
