import { setImmediate } from "node:timers/promises";
import type { MemoryAdvice } from "../onnx/memory-advice.ts";
import { release } from "../onnx/release.ts";
import type { AdamW } from "./adamw.ts";
import { momentKinds } from "./optimizer-state.ts";
import { momentsOf, type TrainerState, trainedParameters } from "./trainer-state.ts";

/**
 * Moves trained parameters and their 32-bit moments to memory in which AdamW works on them in place. The state's
 * tensors are replaced. The old weights stay unchanged, because others may use them. The memory of the old moments is
 * released. Returns, by parameter, the destinations of the gradients.
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
    await setImmediate(); // moving gigabytes takes seconds, so heartbeats and other work get turns
    room.parameter.set(parameter.data);
    for (const part of [state.weights, state.adapter, state.valueHead])
      if (part.get(name) === parameter) part.set(name, { shape: parameter.shape, data: room.parameter });
    for (const kind of momentKinds) {
      const moment = state.optimizer.get(`${kind}/${name}`)!;
      // Writing zeros would occupy memory too.
      if (state.updates > 0) room[kind].set(moment.data);
      state.optimizer.set(`${kind}/${name}`, { shape: moment.shape, data: room[kind] });
      if (moment.data.byteLength === moment.data.buffer.byteLength) release(moment.data);
    }
    gradients.set(name, room.gradient);
  }
  return gradients;
}
