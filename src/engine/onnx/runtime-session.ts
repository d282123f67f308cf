import { messageOf } from "../../base/errors/message-of.ts";
import type { Device } from "../devices/device.ts";
import type { CardArray } from "./card-memory.ts";
import { disabledOptimizers } from "./disabled-optimizers.ts";
import { elementCount } from "./element-count.ts";
import { elementTypes } from "./element-types.ts";
import { passError, sessionError } from "./pass-error.ts";
import { errorsOnly, made, madeAside, type Pointer, type RuntimeFunctions } from "./runtime-functions.ts";

/** Options of a session through the runtime's C API. */
export interface RuntimeSessionOptions {
  /** Threads per operator. */
  threads: number;
  /** Where the model runs. Default: "cpu". */
  device?: Device;
  /** Whether passes on a card may be recorded and replayed as a whole. Default: false. */
  records?: boolean;
  /** The folder of the files that `graph.stored` names. They are mapped into memory. */
  weightsFolder?: string;
  /**
   * Whether such sessions take turns. Then they share the memory that the runtime keeps between passes, and their
   * threads sleep as soon as a pass ends. Otherwise the threads spin for a while and slow down the next session's pass.
   * Default: false.
   */
  takesTurns?: boolean;
}

/** Memory that a pass reads or writes in place. */
export interface BoundTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Int32Array | Int8Array | Uint8Array | CardArray;
}

/** ORT_ENABLE_ALL. */
const allOptimizations = 99;

/** The CUDA provider's options: memory grows by the requested amount, not by powers of two. */
const cudaOptions = { device_id: "0", arena_extend_strategy: "kSameAsRequested" };

/** Creates a session from a model's bytes. Throws ONNX_SESSION_FAILED if the runtime rejects the model. */
export function runtimeSession(
  runtime: RuntimeFunctions,
  model: Uint8Array,
  options: RuntimeSessionOptions,
): Pointer {
  const settings = made(runtime.CreateSessionOptions);
  try {
    configure(runtime, settings, options);
    return made(runtime.CreateSessionFromArray, runtime.environment, model, model.byteLength, settings);
  } catch (cause) {
    throw sessionError(messageOf(cause), cause);
  } finally {
    runtime.ReleaseSessionOptions(settings);
  }
}

/**
 * Creates a session in another thread, without blocking this one, because a large model takes seconds. Sessions on a
 * card are created in this thread.
 */
export async function runtimeSessionAside(
  runtime: RuntimeFunctions,
  model: Uint8Array,
  options: RuntimeSessionOptions,
): Promise<Pointer> {
  const { device = "cpu" } = options;
  if (device !== "cpu") return runtimeSession(runtime, model, options);
  const settings = made(runtime.CreateSessionOptions);
  try {
    configure(runtime, settings, options);
    const { environment, CreateSessionFromArray: create } = runtime;
    return await madeAside(create, environment, model, model.byteLength, settings);
  } catch (cause) {
    throw sessionError(messageOf(cause), cause);
  } finally {
    runtime.ReleaseSessionOptions(settings);
  }
}

function configure(
  runtime: RuntimeFunctions,
  settings: Pointer,
  { threads, device = "cpu", records = false, weightsFolder, takesTurns = false }: RuntimeSessionOptions,
): void {
  runtime.SetIntraOpNumThreads(settings, threads);
  runtime.SetSessionGraphOptimizationLevel(settings, allOptimizations);
  runtime.SetSessionLogSeverityLevel(settings, errorsOnly);
  runtime.DisableMemPattern(settings);
  const key = "optimization.disable_specified_optimizers";
  runtime.AddSessionConfigEntry(settings, key, disabledOptimizers);
  if (weightsFolder !== undefined) {
    const folderKey = "session.model_external_initializers_file_folder_path";
    runtime.AddSessionConfigEntry(settings, folderKey, weightsFolder);
  }
  if (device === "cuda") appendCuda(runtime, settings, records);
  if (device === "webgpu") runtime.SessionOptionsAppendExecutionProvider(settings, "WebGPU", [], [], 0);
  if (takesTurns) {
    runtime.AddSessionConfigEntry(settings, "session.use_env_allocators", "1");
    runtime.AddSessionConfigEntry(settings, "session.force_spinning_stop", "1");
  }
}

function appendCuda(runtime: RuntimeFunctions, settings: Pointer, records: boolean): void {
  const options = made(runtime.CreateCUDAProviderOptions);
  const wanted = { ...cudaOptions, enable_cuda_graph: records ? "1" : "0" };
  const [keys, values] = [Object.keys(wanted), Object.values(wanted)];
  runtime.UpdateCUDAProviderOptions(options, keys, values, keys.length);
  runtime.SessionOptionsAppendExecutionProvider_CUDA_V2(settings, options);
  runtime.ReleaseCUDAProviderOptions(options);
}

/** Returns a value of the runtime's over a tensor's own memory, which must outlive it. Release it after use. */
export function valueOver(runtime: RuntimeFunctions, name: string, { shape, data }: BoundTensor): Pointer {
  if (elementCount(shape) !== data.length) {
    throw passError(`${name} of shape [${shape.join(", ")}] was given ${data.length} numbers`);
  }
  const sizes = BigInt64Array.from(shape, BigInt);
  const create = runtime.CreateTensorWithDataAsOrtValue;
  const isOnCard = "type" in data;
  const memory = isOnCard ? runtime.cardMemory[data.buffer.card] : runtime.memory;
  const place = isOnCard ? data.buffer.address + BigInt(data.byteOffset) : data;
  return made(create, memory, place, data.byteLength, sizes, shape.length, typeOf(data));
}

function typeOf(data: BoundTensor["data"]): number {
  if ("type" in data) return elementTypes[data.type];
  if (data instanceof Float32Array) return elementTypes.float32;
  if (data instanceof Uint8Array) return elementTypes.bool;
  if (data instanceof Int8Array) return elementTypes.int8;
  return data instanceof Int32Array ? elementTypes.int32 : elementTypes.int64;
}
