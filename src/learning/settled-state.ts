import type { Tensor } from "../models/safetensors.ts";
import type { MemoryAdvice } from "../onnx/memory-advice.ts";
import { release } from "../onnx/release.ts";
import type { AdamW } from "./adamw.ts";
import { momentKinds } from "./optimizer-state.ts";
import { momentsOf, type TrainerState, trainedParameters } from "./trainer-state.ts";

/**
 * Moves what is trained, and its moments of 32 bits, to where AdamW works on them in place: the state's tensors are others
 * afterwards. Weights may be somebody else's too and stay as they were; the memory of moments, which nobody else has, is given back.
 * Gives where the gradients of what was moved are to be written, by parameter.
 */
export function settleState(
  state: TrainerState,
  optimizer: Pick<AdamW, "rooms">,
  advice?: MemoryAdvice,
): ReadonlyMap<string, Float32Array> {
  const moments = momentsOf(state);
  const movable = [...trainedParameters(state)].filter(([name]) => moments.get(name)?.bits === 32);
  const rooms = optimizer.rooms(
    movable.map(([, { data }]) => data.length),
    advice,
  );
  const gradients = new Map<string, Float32Array>();
  for (const [index, [name, parameter]] of movable.entries()) {
    const room = rooms[index];
    if (!room) continue;
    for (const part of [state.weights, state.adapter, state.valueHead])
      if (part.get(name) === parameter) part.set(name, moved(parameter, room.parameter));
    for (const kind of momentKinds) {
      const moment = state.optimizer.get(`${kind}/${name}`)!;
      state.optimizer.set(`${kind}/${name}`, moved(moment, room[kind]));
      if (moment.data.byteLength === moment.data.buffer.byteLength) release(moment.data);
    }
    gradients.set(name, room.gradient);
  }
  return gradients;
}

function moved({ shape, data }: { shape: number[]; data: ArrayLike<number> }, into: Float32Array): Tensor {
  into.set(data);
  return { shape, data: into };
}
