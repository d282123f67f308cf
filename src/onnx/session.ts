import type { InferenceSession, Tensor as RuntimeTensor, TensorConstructor } from "onnxruntime-node";
import type { Device } from "../devices/device.ts";
import { openDevice } from "../devices/open-device.ts";
import { loadRuntime } from "../devices/runtime.ts";
import { EverturnError } from "../errors/everturn-error.ts";
import { messageOf } from "../errors/message-of.ts";
import { disabledOptimizers } from "./disabled-optimizers.ts";
import { elementCount } from "./element-count.ts";
import { probeDevice } from "./probe-device.ts";
import { release } from "./release.ts";
import { closedError, runError, sessionError } from "./run-error.ts";
import { createUsage } from "./usage.ts";

/** Numbers with their shape; the array's class is the element type. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Int8Array | Uint8Array;
}

/** Numbers that lie in a device's memory, to feed to any run there; disposed of before the session that made them closes. */
export interface DeviceTensor {
  readonly shape: readonly number[];
  readonly deviceData: RuntimeTensor;
  /** Gives the memory back; until then it is kept. */
  dispose(): void;
}

/** What a run gave back, by output name. Asking for what was not fetched throws ONNX_RUN_FAILED. */
export interface Outputs {
  /** The numbers of a float32 output. */
  floats(name: string): Float32Array;
  tensor(name: string): Tensor;
  /** An output that stayed in the device's memory. */
  deviceTensor(name: string): DeviceTensor;
  /**
   * Gives the memory of what was asked for back at once, not when the garbage collector comes by: gradients of a
   * large model are hundreds of megabytes a run. Its arrays are empty afterwards.
   */
  release(): void;
}

export interface SessionOptions {
  /** Threads an operator may use; default 1: small operators take longer on two, and wait for each other by spinning. */
  threads?: number;
  /** Where the model runs; default "cpu". */
  device?: Device;
  /** Outputs that stay in the device's memory (only "webgpu" has this); default none. */
  keptOnDevice?: readonly string[];
  /** The folder of the files that `graph.stored` names; they are mapped into memory. */
  weightsFolder?: string;
}

/** A model ready to run. */
export interface Session {
  /** Runs the model; inputs are read in place, so don't change them before the run is over. */
  run(feeds: Readonly<Record<string, Tensor | DeviceTensor>>, fetches?: readonly string[]): Promise<Outputs>;
  /** Waits for runs under way, then frees the model; later runs throw ONNX_RUN_FAILED. */
  close(): Promise<void>;
}

/**
 * Makes an ONNX Runtime session of a model's bytes. Throws DEVICE_UNAVAILABLE if the device can't be used here,
 * with what is missing, and ONNX_SESSION_FAILED if the runtime refuses the model.
 */
export async function createSession(model: Uint8Array, options: SessionOptions = {}): Promise<Session> {
  const device = options.device ?? "cpu";
  const missing = openDevice(device);
  if (missing) throw new EverturnError("DEVICE_UNAVAILABLE", { device, ...missing });
  const runtime = await loadRuntime();
  const session = await runtime.InferenceSession.create(model, runtimeOptions(options)).catch(
    async (cause: unknown) => {
      const obstacle = device === "cpu" ? undefined : await probeDevice(device);
      if (obstacle) throw new EverturnError("DEVICE_UNAVAILABLE", { device, ...obstacle }, { cause });
      throw sessionError(messageOf(cause), cause);
    },
  );
  const names = session.inputNames;
  const usage = createUsage(closedError);

  const run = async (
    feeds: Readonly<Record<string, Tensor | DeviceTensor>>,
    fetches: readonly string[],
  ): Promise<Outputs> => {
    const missing = names.filter((name) => feeds[name] === undefined);
    if (missing.length > 0) throw runError(`the input ${missing.join(", ")} was not fed`);
    const unknown = Object.keys(feeds).filter((name) => !names.includes(name));
    if (unknown.length > 0) throw runError(`the model has no input ${unknown.join(", ")}`);
    const empty = device === "webgpu" ? names.find((name) => feeds[name]?.shape.includes(0)) : undefined;
    if (empty !== undefined) throw runError(`the input ${empty} is empty, which WebGPU can't take`);
    const runtimeFeeds = Object.fromEntries(
      names.map((name) => [name, runtimeTensor(runtime.Tensor, name, feeds[name]!)]),
    );
    const results = await session.run(runtimeFeeds, [...fetches]).catch((cause: unknown) => {
      throw runError(messageOf(cause), cause);
    });
    return outputsOf((name) => {
      const value = results[name];
      if (value instanceof runtime.Tensor) return value;
      throw runError(`there is no output ${name}`);
    });
  };

  return {
    run: (feeds, fetches = session.outputNames) => usage.during(() => run(feeds, fetches)),
    close: () => usage.end(() => session.release()),
  };
}

/** What ONNX Runtime is asked for. */
export function runtimeOptions(options: SessionOptions): InferenceSession.SessionOptions {
  const kept = options.keptOnDevice ?? [];
  return {
    executionProviders: [options.device ?? "cpu"],
    intraOpNumThreads: options.threads ?? 1,
    interOpNumThreads: 1,
    enableMemPattern: false,
    graphOptimizationLevel: "all",
    logSeverityLevel: 3,
    extra: {
      optimization: { disable_specified_optimizers: disabledOptimizers },
      ...(options.weightsFolder !== undefined && {
        session: { model_external_initializers_file_folder_path: options.weightsFolder },
      }),
    },
    ...(kept.length > 0 && {
      preferredOutputLocation: Object.fromEntries(kept.map((name) => [name, "gpu-buffer"] as const)),
    }),
  };
}

function outputsOf(find: (name: string) => RuntimeTensor): Outputs {
  const given = new Set<Tensor["data"]>();
  const tensor = (name: string): Tensor => {
    const value = find(name);
    if (value.location !== "cpu") throw runError(`the output ${name} is in the device's memory`);
    const { data, dims, type } = value;
    if (data instanceof Float32Array || data instanceof BigInt64Array || data instanceof Uint8Array) {
      given.add(data);
      return { shape: dims, data };
    }
    throw runError(`the output ${name} is ${type}`);
  };
  return {
    tensor,
    floats(name) {
      const { data } = tensor(name);
      if (data instanceof Float32Array) return data;
      throw runError(`the output ${name} is not float32`);
    },
    deviceTensor(name) {
      const deviceData = find(name);
      if (deviceData.location === "cpu") throw runError(`the output ${name} is not in the device's memory`);
      return { shape: deviceData.dims, deviceData, dispose: () => deviceData.dispose() };
    },
    release() {
      for (const data of given) release(data);
    },
  };
}

/** A tensor as ONNX Runtime takes it. */
export function runtimeTensor(
  make: TensorConstructor,
  name: string,
  tensor: Tensor | DeviceTensor,
): RuntimeTensor {
  if ("deviceData" in tensor) return tensor.deviceData;
  const { data, shape } = tensor;
  if (elementCount(shape) !== data.length) {
    throw runError(`the input ${name} of shape [${shape.join(", ")}] was fed ${data.length} numbers`);
  }
  if (data instanceof Float32Array) return new make("float32", data, shape);
  if (data instanceof BigInt64Array) return new make("int64", data, shape);
  if (data instanceof Int8Array) return new make("int8", data, shape);
  return new make("bool", data, shape);
}
