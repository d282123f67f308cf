import { setImmediate } from "node:timers/promises";
import { sizedShape } from "./dimensions.ts";
import { elementCount } from "./element-count.ts";
import type { Graph } from "./graph.ts";
import { release } from "./release.ts";
import { closedError, runError } from "./run-error.ts";
import { made, type Pointer, type RuntimeFunctions } from "./runtime-functions.ts";
import { type RuntimeSessionOptions, runtimeSession, valueOver } from "./runtime-session.ts";
import type { DeviceTensor, Outputs, Session, Tensor } from "./session.ts";
import { createUsage } from "./usage.ts";

/** Milliseconds: where a run took no longer, the next one may block this thread. Another thread costs a tenth of them. */
const quickRun = 100;

/**
 * A session on the CPU of a graph with float32 outputs, which it lends: they are read in the runtime's own memory
 * until they are released. onnxruntime-node copies them, at .75 ms a megabyte, and so holds them twice. Long runs are
 * made in another thread. Throws ONNX_SESSION_FAILED if the runtime refuses the model.
 */
export function createLendingSession(
  runtime: RuntimeFunctions,
  graph: Graph,
  bytes: Uint8Array,
  options: RuntimeSessionOptions,
): Session {
  const session = runtimeSession(runtime, bytes, options);
  const inputNames = graph.inputs.map(({ name }) => name);
  const outputNames = [...graph.outputs.keys()];
  /** What runs under way read, kept from the garbage collector. */
  const read = new Set<readonly Tensor[]>();
  const usage = createUsage(closedError);
  let isQuick = false;

  const runOn = async (tensors: readonly Tensor[]): Promise<Pointer[]> => {
    const inputs: Pointer[] = [];
    read.add(tensors);
    try {
      for (const [index, tensor] of tensors.entries()) {
        inputs.push(valueOver(runtime, inputNames[index]!, tensor));
      }
      const outputs: Pointer[] = outputNames.map(() => null);
      const [from, to] = [inputs.length, outputs.length];
      const given = [session, null, inputNames, inputs, from, outputNames, to, outputs];
      const start = performance.now();
      if (isQuick) {
        await setImmediate(); // heartbeats and the like have their turn
        runtime.Run(...given);
      } else await runtime.Run.aside(...given);
      isQuick = performance.now() - start <= quickRun;
      return outputs;
    } finally {
      read.delete(tensors);
      for (const value of inputs) runtime.ReleaseValue(value);
    }
  };

  /** What a run gave, in the runtime's own memory. */
  const lend = (values: Pointer[], sizes: Readonly<Record<string, number>>): Outputs => {
    const lent = new Map(
      [...graph.outputs].map(([name, { shape }], index) => {
        const sized = sizedShape(shape, sizes);
        return [name, { shape: sized, data: numbersOf(runtime, name, values[index], sized) }] as const;
      }),
    );
    const tensor = (name: string) => {
      const output = lent.get(name);
      if (!output) throw runError(`there is no output ${name}`);
      return output;
    };
    return {
      tensor,
      floats: (name) => tensor(name).data,
      deviceTensor(name) {
        throw runError(`the output ${name} is not in the device's memory`);
      },
      release() {
        for (const { data } of lent.values()) release(data);
        for (const value of values.splice(0)) runtime.ReleaseValue(value);
      },
    };
  };

  return {
    run: (feeds) =>
      usage.during(async () => {
        const given = inputNames.map((name) => tensorOf(name, feeds[name]));
        return lend(await runOn(given), sizesOf(graph, given));
      }),
    close: () => usage.end(() => runtime.ReleaseSession(session)),
  };
}

function tensorOf(name: string, tensor: Tensor | DeviceTensor | undefined): Tensor {
  if (!tensor) throw runError(`the input ${name} was not fed`);
  if ("deviceData" in tensor) throw runError(`the input ${name} is in a device's memory`);
  return tensor;
}

/** The sizes of a graph's named dimensions, by what its inputs were given. */
function sizesOf({ inputs }: Graph, given: readonly Tensor[]): Record<string, number> {
  const named = inputs.flatMap(({ shape }, index) =>
    shape.map((dimension, axis) => [dimension, given[index]!.shape[axis]!] as const),
  );
  return Object.fromEntries(named);
}

/** The numbers of a value, where they lie. */
function numbersOf(
  runtime: RuntimeFunctions,
  name: string,
  value: Pointer,
  shape: readonly number[],
): Float32Array {
  const count = elementCount(shape);
  const information = made(runtime.GetTensorTypeAndShape, value);
  const found = Number(made(runtime.GetTensorShapeElementCount, information));
  runtime.ReleaseTensorTypeAndShapeInfo(information);
  if (found !== count) throw runError(`the output ${name} has ${found} numbers, not ${count}`);
  return new Float32Array(runtime.view(made(runtime.GetTensorMutableData, value), 4 * count));
}
