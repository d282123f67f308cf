import type { InferenceSession, Tensor as RuntimeTensor, TensorConstructor } from "onnxruntime-node";
import { messageOf } from "../../base/errors/message-of.ts";
import { defined } from "../../base/records/defined.ts";
import { loadRuntime } from "../devices/runtime.ts";
import { checkFeeds } from "./check-feeds.ts";
import { disabledOptimizers } from "./disabled-optimizers.ts";
import { elementCount } from "./element-count.ts";
import { floatsOf } from "./floats-of.ts";
import type { DeviceTensor, ModelSession, ModelSessionOptions, Outputs, Tensor } from "./model-session.ts";
import { closedError, passError } from "./pass-error.ts";
import { release } from "./release.ts";
import { createUsage } from "./usage.ts";

/** Creates a session of onnxruntime-node, on the CPU or on WebGPU. Throws the runtime's errors. */
export async function createNodeSession(
  model: Uint8Array,
  options: ModelSessionOptions,
): Promise<ModelSession> {
  const runtime = await loadRuntime();
  const session = await runtime.InferenceSession.create(model, runtimeOptions(options));
  const names = session.inputNames;
  const usage = createUsage(closedError);

  const run = async (
    feeds: Readonly<Record<string, Tensor | DeviceTensor>>,
    fetches: readonly string[],
  ): Promise<Outputs> => {
    checkFeeds(feeds, names);
    const isCard = options.device === "webgpu";
    const empty = isCard ? names.find((name) => feeds[name]?.shape.includes(0)) : undefined;
    if (empty !== undefined) throw passError(`the input ${empty} is empty, which WebGPU can't take`);
    const runtimeFeeds = Object.fromEntries(
      names.map((name) => [name, runtimeTensor(runtime.Tensor, name, feeds[name]!)]),
    );
    const results = await session.run(runtimeFeeds, [...fetches]).catch((cause: unknown) => {
      throw passError(messageOf(cause), cause);
    });
    return outputsOf((name) => {
      const value = results[name];
      if (value instanceof runtime.Tensor) return value;
      throw passError(`there is no output ${name}`);
    });
  };

  return {
    run: (feeds, fetches = session.outputNames) => usage.during(() => run(feeds, fetches)),
    close: () => usage.end(() => session.release()),
  };
}

/** Returns the options of ONNX Runtime. */
export function runtimeOptions(options: ModelSessionOptions): InferenceSession.SessionOptions {
  const kept = options.keptOnDevice ?? [];
  return defined({
    executionProviders: [options.device ?? "cpu"],
    intraOpNumThreads: options.threads ?? 1,
    interOpNumThreads: 1,
    enableMemPattern: false,
    graphOptimizationLevel: "all",
    logSeverityLevel: 3,
    extra: defined({
      optimization: { disable_specified_optimizers: disabledOptimizers },
      session:
        options.weightsFolder !== undefined
          ? { model_external_initializers_file_folder_path: options.weightsFolder }
          : undefined,
    }),
    preferredOutputLocation:
      kept.length > 0 ? Object.fromEntries(kept.map((name) => [name, "gpu-buffer"] as const)) : undefined,
  });
}

function outputsOf(find: (name: string) => RuntimeTensor): Outputs {
  const given = new Set<Tensor["data"]>();
  const tensor = (name: string): Tensor => {
    const value = find(name);
    if (value.location !== "cpu") throw passError(`the output ${name} is in the device's memory`);
    const { data, dims, type } = value;
    if (data instanceof Float32Array || data instanceof BigInt64Array || data instanceof Uint8Array) {
      given.add(data);
      return { shape: dims, data };
    }
    throw passError(`the output ${name} is ${type}`);
  };
  return {
    tensor,
    floats: (name) => floatsOf(name, tensor(name)),
    deviceTensor(name) {
      const deviceData = find(name);
      if (deviceData.location === "cpu") throw passError(`the output ${name} is not in the device's memory`);
      return { shape: deviceData.dims, deviceData, dispose: () => deviceData.dispose() };
    },
    release() {
      for (const data of given) release(data);
    },
  };
}

/** Returns a tensor for ONNX Runtime. */
export function runtimeTensor(
  make: TensorConstructor,
  name: string,
  tensor: Tensor | DeviceTensor,
): RuntimeTensor {
  if ("deviceData" in tensor) {
    if (tensor.deviceData instanceof make) return tensor.deviceData;
    throw passError(`the input ${name} is in another device's memory`);
  }
  const { data, shape } = tensor;
  if (elementCount(shape) !== data.length) {
    throw passError(`the input ${name} of shape [${shape.join(", ")}] was fed ${data.length} numbers`);
  }
  if (data instanceof Float32Array) return new make("float32", data, shape);
  if (data instanceof BigInt64Array) return new make("int64", data, shape);
  if (data instanceof Int8Array) return new make("int8", data, shape);
  return new make("bool", data, shape);
}
