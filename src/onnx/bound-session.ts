import { messageOf } from "../errors/message-of.ts";
import { elementCount } from "./element-count.ts";
import { elementTypes } from "./element-types.ts";
import { runError, sessionError } from "./run-error.ts";
import { made, type Pointer, type RuntimeCall, runtimeFunctions } from "./runtime-functions.ts";

/** Memory that a run reads or writes in place. */
export interface BoundTensor {
  readonly shape: readonly number[];
  readonly data: Float32Array | BigInt64Array | Int32Array;
}

/**
 * A model on the CPU whose inputs and outputs lie in memory of the caller's, bound once for many runs: nothing is
 * copied, and a run costs a call. onnxruntime-node can't do this, so the runtime's C API is called beside it.
 */
export interface BoundSession {
  /**
   * Binds an input from the next run on. The memory must live as long as runs read it; it is not kept alive here.
   */
  bindInput(name: string, tensor: BoundTensor): void;
  /** Binds an output likewise. An input and an output may be the same memory, where the operator allows it. */
  bindOutput(name: string, tensor: BoundTensor): void;
  /** Runs the model, blocking this thread. Throws ONNX_RUN_FAILED. */
  run(): void;
  close(): void;
}

/** How a session is made. */
export interface BoundSessionOptions {
  /** Threads an operator may use. */
  threads: number;
  /** The folder of the files that `graph.stored` names; they are mapped into memory. */
  weightsFolder?: string;
}

/** Makes a session of a model's bytes. Throws ONNX_SESSION_FAILED if the runtime refuses the model. */
export async function createBoundSession(
  model: Uint8Array,
  { threads, weightsFolder }: BoundSessionOptions,
): Promise<BoundSession> {
  const runtime = await runtimeFunctions();
  const open = (): Pointer => {
    const settings = made(runtime.CreateSessionOptions);
    try {
      runtime.SetIntraOpNumThreads(settings, threads);
      runtime.SetSessionGraphOptimizationLevel(settings, allOptimizations);
      runtime.SetSessionLogSeverityLevel(settings, errorsOnly);
      runtime.DisableMemPattern(settings);
      if (weightsFolder !== undefined) {
        const key = "session.model_external_initializers_file_folder_path";
        runtime.AddSessionConfigEntry(settings, key, weightsFolder);
      }
      const environment = made(runtime.CreateEnv, errorsOnly, "everturn");
      return made(runtime.CreateSessionFromArray, environment, model, model.byteLength, settings);
    } catch (cause) {
      const reason = messageOf(cause);
      throw sessionError(reason, cause);
    } finally {
      runtime.ReleaseSessionOptions(settings);
    }
  };
  const session = open();
  const binding = made(runtime.CreateIoBinding, session);
  const memory = made(runtime.CreateCpuMemoryInfo, deviceAllocator, defaultMemory);

  /** The binding holds the tensor from then on, though not the memory. */
  const bind = (to: RuntimeCall, name: string, { shape, data }: BoundTensor) => {
    if (elementCount(shape) !== data.length) {
      throw runError(`${name} of shape [${shape.join(", ")}] was given ${data.length} numbers`);
    }
    const sizes = BigInt64Array.from(shape, BigInt);
    const create = runtime.CreateTensorWithDataAsOrtValue;
    const value = made(create, memory, data, data.byteLength, sizes, shape.length, typeOf(data));
    to(binding, name, value);
    runtime.ReleaseValue(value);
  };

  return {
    bindInput: (name, tensor) => bind(runtime.BindInput, name, tensor),
    bindOutput: (name, tensor) => bind(runtime.BindOutput, name, tensor),
    run: () => runtime.RunWithBinding(session, null, binding),
    close() {
      runtime.ReleaseIoBinding(binding);
      runtime.ReleaseSession(session);
    },
  };
}

/** ORT_ENABLE_ALL, ORT_LOGGING_LEVEL_ERROR, OrtDeviceAllocator, OrtMemTypeDefault. */
const [allOptimizations, errorsOnly, deviceAllocator, defaultMemory] = [99, 3, 0, 0];

function typeOf(data: BoundTensor["data"]): number {
  if (data instanceof Float32Array) return elementTypes.float32;
  return data instanceof Int32Array ? elementTypes.int32 : elementTypes.int64;
}
