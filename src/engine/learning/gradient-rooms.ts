import type { Tensor } from "../models/weights/safetensors.ts";
import { type TrainerState, trainedParameters } from "./trainer-state.ts";
import { gradientName, sumName } from "./training-graphs.ts";

/** Where gradients of several passes are added up. */
export interface GradientRooms {
  /** By the names of the outputs that are written there. */
  readonly into: ReadonlyMap<string, Float32Array>;
  /** Whether the model can add all of them itself. */
  readonly canAdd: boolean;
  /** The sums before the first pass, zeros, as inputs that lie where the outputs will. */
  zeros(): Record<string, Tensor>;
}

/** Rooms of the optimizer's, by parameter, for the gradients of a state. */
export function gradientRooms(
  rooms: ReadonlyMap<string, Float32Array>,
  state: TrainerState,
  hasAdapter: boolean,
): GradientRooms {
  const trained = trainedParameters(state);
  return {
    into: new Map([...rooms].map(([name, data]) => [gradientName(name), data])),
    // Adapters' gradients are small, and models that add them would be two: updates of one pass want them otherwise.
    canAdd: !hasAdapter && [...trained.keys()].every((name) => rooms.has(name)),
    zeros() {
      const sums = Array.from(rooms, ([name, data]) => {
        data.fill(0);
        return [sumName(name), { shape: trained.get(name)!.shape, data }] as const;
      });
      return Object.fromEntries(sums);
    },
  };
}
