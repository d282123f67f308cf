import { setImmediate } from "node:timers/promises";
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
export async function settleState(
  state: TrainerState,
  optimizer: Pick<AdamW, "rooms">,
  advice?: MemoryAdvice,
): Promise<ReadonlyMap<string, Float32Array>> {
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
    await setImmediate(); // gigabytes of memory take seconds: heartbeats and the like have their turn
    room.parameter.set(parameter.data);
    for (const part of [state.weights, state.adapter, state.valueHead])
      if (part.get(name) === parameter) part.set(name, { shape: parameter.shape, data: room.parameter });
    for (const kind of momentKinds) {
      const moment = state.optimizer.get(`${kind}/${name}`)!;
      // Zeros, too, would take memory where they are written.
      if (state.updates > 0) room[kind].set(moment.data);
      state.optimizer.set(`${kind}/${name}`, { shape: moment.shape, data: room[kind] });
      if (moment.data.byteLength === moment.data.buffer.byteLength) release(moment.data);
    }
    gradients.set(name, room.gradient);
  }
  return gradients;
}
