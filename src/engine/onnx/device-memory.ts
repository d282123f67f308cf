import type { Card } from "../devices/device.ts";
import { createModelSession } from "./create-model-session.ts";
import { createGraph } from "./graph.ts";
import { modelBytes } from "./model-bytes.ts";
import type { DeviceTensor, ModelSession, Outputs, Tensor } from "./model-session.ts";

/** Tensors in a card's memory, and the session that owns it. Close it after all of them are disposed of. */
export interface Upload {
  readonly tensors: Map<string, DeviceTensor>;
  readonly session: ModelSession;
}

/** Copies float32 tensors to a card's memory. Throws DEVICE_UNAVAILABLE. */
export async function toDevice(tensors: ReadonlyMap<string, Tensor>, card: Card): Promise<Upload> {
  const { session, outputs } = await pass(tensors, card, true);
  return {
    tensors: new Map([...tensors.keys()].map((name) => [name, outputs.deviceTensor(passed(name))])),
    session,
  };
}

/** Copies float32 tensors from a card's memory. */
export async function fromDevice(
  tensors: ReadonlyMap<string, DeviceTensor>,
  card: Card,
): Promise<Map<string, Tensor>> {
  const { session, outputs } = await pass(tensors, card, false);
  await session.close();
  return new Map([...tensors.keys()].map((name) => [name, outputs.tensor(passed(name))]));
}

const passed = (name: string) => `${name}/passed`;

/** Passes tensors through a model that returns its inputs. */
async function pass(
  tensors: ReadonlyMap<string, Tensor | DeviceTensor>,
  device: Card,
  kept: boolean,
): Promise<{ session: ModelSession; outputs: Outputs }> {
  const graph = createGraph();
  for (const [name, { shape }] of tensors) graph.output(passed(name), graph.input(name, "float32", shape));
  const options = { device, keptOnDevice: kept ? [...graph.outputs.keys()] : [] };
  const session = await createModelSession(modelBytes(graph, options), options);
  return { session, outputs: await session.run(Object.fromEntries(tensors)) };
}
