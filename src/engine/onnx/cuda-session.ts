import { defined } from "../../base/records/defined.ts";
import { checkFeeds } from "./check-feeds.ts";
import { elementCount } from "./element-count.ts";
import { elementTypes } from "./element-types.ts";
import { floatsOf } from "./floats-of.ts";
import type { DeviceTensor, ModelSession, ModelSessionOptions, Outputs, Tensor } from "./model-session.ts";
import { closedError, passError } from "./pass-error.ts";
import { release } from "./release.ts";
import { made, type Pointer, type RuntimeFunction, type RuntimeFunctions } from "./runtime-functions.ts";
import { runtimeSession, valueOver } from "./runtime-session.ts";
import { createUsage } from "./usage.ts";

/** Creates a session on an NVIDIA card through the runtime's C API. Throws ONNX_SESSION_FAILED. */
export function createCudaSession(
  runtime: RuntimeFunctions,
  model: Uint8Array,
  { threads = 1, weightsFolder, keptOnDevice = [] }: ModelSessionOptions,
): ModelSession {
  const session = runtimeSession(
    runtime,
    model,
    defined({
      threads,
      device: "cuda",
      weightsFolder,
    }),
  );
  const names = inputNames(runtime, session);
  const all = outputNames(runtime, session);
  const kept = new Set(keptOnDevice);
  const usage = createUsage(closedError);

  const run = async (
    feeds: Readonly<Record<string, Tensor | DeviceTensor>>,
    fetches: readonly string[],
  ): Promise<Outputs> => {
    checkFeeds(feeds, names);
    const binding = made(runtime.CreateIoBinding, session);
    try {
      for (const name of names) bindInput(runtime, binding, name, feeds[name]!);
      for (const name of fetches) {
        runtime.BindOutputToDevice(binding, name, kept.has(name) ? runtime.cardMemory.cuda : runtime.memory);
      }
      await runtime.RunWithBinding.aside(session, null, binding);
      return outputsOf(runtime, fetches, kept, boundOutputs(runtime, binding));
    } finally {
      runtime.ReleaseIoBinding(binding);
    }
  };

  return {
    run: (feeds, fetches = all) => usage.during(() => run(feeds, fetches)),
    close: () => usage.end(() => runtime.ReleaseSession(session)),
  };
}

/** Binds an input. Copies those in main memory to the card. */
function bindInput(
  runtime: RuntimeFunctions,
  binding: Pointer,
  name: string,
  tensor: Tensor | DeviceTensor,
): void {
  if ("deviceData" in tensor) {
    if (!("cudaValue" in tensor.deviceData))
      throw passError(`the input ${name} is in another device's memory`);
    runtime.BindInput(binding, name, tensor.deviceData.cudaValue);
    return;
  }
  const value = valueOver(runtime, name, tensor);
  runtime.BindInput(binding, name, value);
  runtime.ReleaseValue(value);
}

/** Returns the values of a pass's outputs in the order of binding. Release each of them. */
function boundOutputs(runtime: RuntimeFunctions, binding: Pointer): Pointer[] {
  const allocator = made(runtime.GetAllocatorWithDefaultOptions);
  const [list, count]: [Pointer[], [number | bigint]] = [[null], [0]];
  runtime.GetBoundOutputValues(binding, allocator, list, count);
  const values = runtime.pointers(list[0], Number(count[0]));
  runtime.AllocatorFree(allocator, list[0]);
  return values;
}

function outputsOf(
  runtime: RuntimeFunctions,
  names: readonly string[],
  kept: ReadonlySet<string>,
  values: readonly Pointer[],
): Outputs {
  const onCard = new Map<string, DeviceTensor>();
  const fetched = new Map<string, Tensor>();
  names.forEach((name, index) => {
    const value = values[index];
    const { shape, type } = kindOf(runtime, value);
    const dispose = () => runtime.ReleaseValue(value);
    if (kept.has(name)) onCard.set(name, { shape, deviceData: { cudaValue: value }, dispose });
    else {
      fetched.set(name, copyOf(runtime, name, value, { shape, type }));
      dispose();
    }
  });
  const tensor = (name: string): Tensor => {
    const found = fetched.get(name);
    if (found) return found;
    throw passError(
      onCard.has(name) ? `the output ${name} is in the device's memory` : `there is no output ${name}`,
    );
  };
  return {
    tensor,
    floats: (name) => floatsOf(name, tensor(name)),
    deviceTensor(name) {
      const found = onCard.get(name);
      if (found) return found;
      throw passError(
        fetched.has(name) ? `the output ${name} is not in the device's memory` : `there is no output ${name}`,
      );
    },
    release() {
      for (const { data } of fetched.values()) release(data);
    },
  };
}

/** A value's shape, and ONNX's number of its element type. */
interface Kind {
  shape: readonly number[];
  type: number;
}

function kindOf(runtime: RuntimeFunctions, value: Pointer): Kind {
  const information = made(runtime.GetTensorTypeAndShape, value);
  const axes = Number(made(runtime.GetDimensionsCount, information));
  const sizes = new BigInt64Array(axes);
  runtime.GetDimensions(information, sizes, axes);
  const type = Number(made(runtime.GetTensorElementType, information));
  runtime.ReleaseTensorTypeAndShapeInfo(information);
  return { shape: Array.from(sizes, Number), type };
}

/** Copies a value's numbers to main memory. */
function copyOf(runtime: RuntimeFunctions, name: string, value: Pointer, { shape, type }: Kind): Tensor {
  const bytes = (size: number) =>
    runtime.view(made(runtime.GetTensorMutableData, value), size * elementCount(shape)).slice(0);
  if (type === elementTypes.float32) return { shape, data: new Float32Array(bytes(4)) };
  if (type === elementTypes.int64) return { shape, data: new BigInt64Array(bytes(8)) };
  if (type === elementTypes.bool) return { shape, data: new Uint8Array(bytes(1)) };
  throw passError(`the output ${name} is of the element type ${type}`);
}

/** Returns the names of a model's inputs in order. */
function inputNames(runtime: RuntimeFunctions, session: Pointer): string[] {
  return namesBy(runtime, session, runtime.SessionGetInputCount, runtime.SessionGetInputName);
}

/** Returns the names of a model's outputs in order. */
function outputNames(runtime: RuntimeFunctions, session: Pointer): string[] {
  return namesBy(runtime, session, runtime.SessionGetOutputCount, runtime.SessionGetOutputName);
}

function namesBy(
  runtime: RuntimeFunctions,
  session: Pointer,
  countOf: RuntimeFunction,
  nameOf: RuntimeFunction,
): string[] {
  const allocator = made(runtime.GetAllocatorWithDefaultOptions);
  return Array.from({ length: Number(made(countOf, session)) }, (_, index) => {
    const text = made(nameOf, session, index, allocator);
    const name = runtime.text(text);
    runtime.AllocatorFree(allocator, text);
    return name;
  });
}
