import { setImmediate } from "node:timers/promises";
import { sizedShape } from "./dimensions.ts";
import { elementCount } from "./element-count.ts";
import type { Graph } from "./graph.ts";
import type { DeviceTensor, ModelSession, Outputs, Tensor } from "./model-session.ts";
import { closedError, passError } from "./pass-error.ts";
import { release } from "./release.ts";
import { made, type Pointer, type RuntimeFunctions } from "./runtime-functions.ts";
import {
  type BoundTensor,
  type RuntimeSessionOptions,
  runtimeSessionAside,
  valueOver,
} from "./runtime-session.ts";
import { createUsage } from "./usage.ts";

/**
 * Milliseconds. After a pass that took less, the next one may block this thread. Another thread costs a tenth of them.
 */
const quickPass = 100;

/** An output in the runtime's memory, or at its requested destination. */
interface LentTensor {
  shape: readonly number[];
  data: Float32Array;
  isLent: boolean;
}

/** A session that writes outputs to requested destinations. */
export interface LendingSession extends Omit<ModelSession, "run"> {
  /**
   * Runs the model like any session. Outputs with names in `into` are written there, and stay there after a release.
   */
  run(
    feeds: Readonly<Record<string, Tensor | DeviceTensor>>,
    into?: ReadonlyMap<string, Float32Array>,
  ): Promise<Outputs>;
}

/**
 * Creates a session on the CPU for a graph with float32 outputs, which it lends: callers read them in the runtime's
 * memory until they release them. onnxruntime-node would copy them, which takes .75 ms per megabyte and twice the
 * memory. The session is created in another thread, in which long passes run too. Throws ONNX_SESSION_FAILED if the
 * runtime rejects the model.
 */
export async function createLendingSession(
  runtime: RuntimeFunctions,
  graph: Graph,
  bytes: Uint8Array,
  options: RuntimeSessionOptions,
): Promise<LendingSession> {
  const session = await runtimeSessionAside(runtime, bytes, options);
  const inputNames = graph.inputs.map(({ name }) => name);
  const outputNames = [...graph.outputs.keys()];
  /** The inputs and outputs of active passes, kept from the garbage collector. */
  const inUse = new Set<readonly unknown[]>();
  const usage = createUsage(closedError);
  let isQuick = false;
  let isFirst = true;

  /** Runs the model and returns the values of its outputs, over the memory in `into` or in the runtime's own. */
  const runOn = async (tensors: readonly Tensor[], into: readonly (BoundTensor | undefined)[]) => {
    const inputs: Pointer[] = [];
    // The runtime writes these numbers itself. koffi frees a list that it writes before it is read if a call is large
    // (in koffi 3.3.4).
    const outputs = new BigUint64Array(outputNames.length);
    const used = [...tensors, ...into];
    inUse.add(used);
    try {
      for (const [index, tensor] of tensors.entries()) {
        inputs.push(valueOver(runtime, inputNames[index]!, tensor));
      }
      for (const [index, tensor] of into.entries()) {
        if (tensor) outputs[index] = valueOver(runtime, outputNames[index]!, tensor) ?? 0n;
      }
      const given = [session, null, inputNames, inputs, inputs.length, outputNames, outputs.length, outputs];
      const start = performance.now();
      if (isQuick) {
        await setImmediate(); // heartbeats and other work get turns
        runtime.Run(...given);
      } else await runtime.Run.aside(...given);
      isQuick = performance.now() - start <= quickPass;
      if (isFirst) runtime.memoryAdvice?.giveBackHeap();
      isFirst = false;
      return [...outputs];
    } catch (error) {
      for (const value of outputs) if (value) runtime.ReleaseValue(value);
      throw error;
    } finally {
      inUse.delete(used);
      for (const value of inputs) runtime.ReleaseValue(value);
    }
  };

  /** Returns the outputs of a pass. */
  const lend = (values: Pointer[], tensors: ReadonlyMap<string, LentTensor>): Outputs => {
    const tensor = (name: string) => {
      const output = tensors.get(name);
      if (!output) throw passError(`there is no output ${name}`);
      return output;
    };
    return {
      tensor,
      floats: (name) => tensor(name).data,
      deviceTensor(name) {
        throw passError(`the output ${name} is not in the device's memory`);
      },
      release() {
        for (const { data, isLent } of tensors.values()) if (isLent) release(data);
        for (const value of values.splice(0)) runtime.ReleaseValue(value);
      },
    };
  };

  return {
    run: (feeds, into) =>
      usage.during(async () => {
        const given = inputNames.map((name) => tensorOf(name, feeds[name]));
        const sizes = sizesOf(graph, given);
        const own = outputNames.map((name) => {
          const data = into?.get(name);
          return data && { shape: sizedShape(graph.outputs.get(name)!.shape, sizes), data };
        });
        const values = await runOn(given, own);
        const tensors = outputNames.map((name, index): [string, LentTensor] => {
          const there = own[index];
          if (there) return [name, { ...there, isLent: false }];
          const shape = sizedShape(graph.outputs.get(name)!.shape, sizes);
          return [name, { shape, data: numbersOf(runtime, name, values[index], shape), isLent: true }];
        });
        return lend(values, new Map(tensors));
      }),
    close: () => usage.end(() => runtime.ReleaseSession(session)),
  };
}

function tensorOf(name: string, tensor: Tensor | DeviceTensor | undefined): Tensor {
  if (!tensor) throw passError(`the input ${name} was not fed`);
  if ("deviceData" in tensor) throw passError(`the input ${name} is in a device's memory`);
  return tensor;
}

/** Returns the sizes of a graph's named dimensions from the shapes of its inputs. */
function sizesOf({ inputs }: Graph, given: readonly Tensor[]): Record<string, number> {
  const named = inputs.flatMap(({ shape }, index) =>
    shape.map((dimension, axis) => [dimension, given[index]!.shape[axis]!] as const),
  );
  return Object.fromEntries(named);
}

/** Returns the numbers of a value in place. */
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
  if (found !== count) throw passError(`the output ${name} has ${found} numbers, not ${count}`);
  return new Float32Array(runtime.view(made(runtime.GetTensorMutableData, value), 4 * count));
}
