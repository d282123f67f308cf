import type { Card } from "../devices/device.ts";
import { createModelSession } from "../onnx/create-model-session.ts";
import { fromDevice, toDevice } from "../onnx/device-memory.ts";
import { add } from "../onnx/elementwise.ts";
import { createGraph } from "../onnx/graph.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { DeviceTensor, ModelSession, Tensor } from "../onnx/model-session.ts";
import type { LearningRates } from "./learning-rates.ts";
import { nextName, type OptimizerGraphSettings, optimizerModel } from "./optimizer-graph.ts";
import { gradientName } from "./training-graphs.ts";

/** Parameters and moments that stay in a card's memory between updates. */
export interface DeviceOptimizer {
  /** Returns the current parameters, to feed to models on the same device. */
  parameters(): ReadonlyMap<string, DeviceTensor>;
  /**
   * Adds a pass's gradients, by parameter, to those of the next update, and takes ownership of their memory. The
   * session that made them must stay open until this optimizer is closed.
   */
  add(gradients: ReadonlyMap<string, DeviceTensor>): Promise<void>;
  /**
   * Updates the parameters that have gradients with AdamW. Returns the gradients' norm before clipping. Changes nothing
   * if the norm is not finite.
   */
  update(rates: CardRates): Promise<number>;
  /** Returns copies of parameters and moments (`first/…`, `second/…`) in main memory. */
  read(): Promise<Map<string, Tensor>>;
  close(): Promise<void>;
}

/** Moves parameters and their moments to a card. */
export async function createDeviceOptimizer(
  device: Card,
  parameters: ReadonlyMap<string, Tensor>,
  moments: ReadonlyMap<string, Tensor>,
  settings: OptimizerGraphSettings,
): Promise<DeviceOptimizer> {
  const { tensors: state, session: upload } = await toDevice(new Map([...parameters, ...moments]), device);
  /** Models for the sets of parameters that are updated together, by parameter names. */
  const opened = new Map<string, Promise<{ adder: ModelSession; optimizer: ModelSession }>>();
  let sums = new Map<string, DeviceTensor>();

  const sessions = (names: readonly string[]) => {
    const key = names.join();
    const shapes = new Map(names.map((name) => [name, state.get(name)!.shape]));
    const opening = opened.get(key) ?? openSessions(device, shapes, settings);
    opened.set(key, opening);
    return opening;
  };

  return {
    parameters: () => new Map([...parameters.keys()].map((name) => [name, state.get(name)!])),
    async add(gradients) {
      if (sums.size === 0) {
        sums = new Map(gradients);
        return;
      }
      const { adder } = await sessions([...sums.keys()]);
      const more = [...gradients].map(([name, value]): [string, DeviceTensor] => [`more/${name}`, value]);
      const outputs = await adder.run(Object.fromEntries([...sums, ...more]));
      for (const tensor of [...sums.values(), ...gradients.values()]) tensor.dispose();
      sums = new Map([...sums.keys()].map((name) => [name, outputs.deviceTensor(nextName(name))]));
    },
    async update(rates) {
      const names = [...sums.keys()];
      const { optimizer } = await sessions(names);
      const tensors = names.flatMap(stateNames).map((name) => [name, state.get(name)!] as const);
      const gradients = [...sums].map(([name, value]) => [gradientName(name), value] as const);
      const feeds = { ...Object.fromEntries([...tensors, ...gradients]), ...rateTensors(rates, settings) };
      const outputs = await optimizer.run(feeds);
      for (const sum of sums.values()) sum.dispose();
      sums = new Map();
      const norm = outputs.floats("gradientNorm")[0]!;
      for (const [name, value] of tensors) {
        const next = outputs.deviceTensor(nextName(name));
        (Number.isFinite(norm) ? value : next).dispose();
        if (Number.isFinite(norm)) state.set(name, next);
      }
      return norm;
    },
    read: () => fromDevice(state, device),
    async close() {
      for (const tensor of [...state.values(), ...sums.values()]) tensor.dispose();
      for (const opening of opened.values()) {
        const { adder, optimizer } = await opening;
        await adder.close();
        await optimizer.close();
      }
      await upload.close();
    },
  };
}

const stateNames = (name: string) => [name, `first/${name}`, `second/${name}`];

async function openSessions(
  device: Card,
  shapes: ReadonlyMap<string, readonly number[]>,
  settings: OptimizerGraphSettings,
): Promise<{ adder: ModelSession; optimizer: ModelSession }> {
  const names = [...shapes.keys()];
  const updated = names.flatMap(stateNames).map(nextName);
  return {
    adder: await createModelSession(sumModel(device, shapes), { device, keptOnDevice: names.map(nextName) }),
    optimizer: await createModelSession(optimizerModel(shapes, settings, { device }), {
      device,
      keptOnDevice: updated,
    }),
  };
}

function sumModel(device: Card, shapes: ReadonlyMap<string, readonly number[]>): Uint8Array {
  const graph = createGraph();
  for (const [name, shape] of shapes) {
    const sum = graph.input(name, "float32", shape);
    graph.output(nextName(name), add(sum, graph.input(`more/${name}`, "float32", shape)));
  }
  return modelBytes(graph, { device });
}

/** Learning rates, the weight decay, and the number of the update, from 1. */
interface CardRates extends LearningRates {
  weightDecay: number;
  update: number;
}

function rateTensors(
  { learningRate, valueLearningRate = learningRate, weightDecay, update }: CardRates,
  { betas: [firstDecay, secondDecay] }: OptimizerGraphSettings,
): Record<string, Tensor> {
  const scalar = (value: number): Tensor => ({ shape: [], data: Float32Array.of(value) });
  return {
    learningRate: scalar(learningRate),
    valueLearningRate: scalar(valueLearningRate),
    firstScale: scalar(1 / (1 - firstDecay ** update)),
    secondScale: scalar(1 / Math.sqrt(1 - secondDecay ** update)),
    weightDecay: scalar(weightDecay),
  };
}
