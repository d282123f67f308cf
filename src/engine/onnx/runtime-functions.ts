import { setImmediate } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { Card } from "../devices/device.ts";
import { loadRuntime, runtimeLibrary } from "../devices/runtime.ts";
import { keepLargeBlocksApart } from "./allocator.ts";
import { foreignCalls } from "./foreign-calls.ts";
import { type MemoryAdvice, memoryAdvice } from "./memory-advice.ts";
import { passError } from "./pass-error.ts";

/** A pointer of ONNX Runtime as a number. Only the runtime knows its target. */
export type Pointer = bigint | null;

/** Calls a function of the C API. Throws ONNX_RUN_FAILED with the runtime's message if it fails. */
export interface RuntimeFunction {
  (...args: readonly unknown[]): void;
  /** Calls it in another thread, without blocking this one, or in this thread if no other can. */
  aside(...args: readonly unknown[]): Promise<void>;
}

/** Functions of ONNX Runtime's C API, by its names. */
type Functions = Readonly<Record<keyof typeof places, RuntimeFunction>>;

/** The functions and their common arguments. */
export interface RuntimeFunctions extends Functions {
  /** The process's environment, in which sessions are created. */
  readonly environment: Pointer;
  /** Describes main memory. */
  readonly memory: Pointer;
  /** Describes the memory of each kind of card, whether or not there is a card. */
  readonly cardMemory: Readonly<Record<Card, Pointer>>;
  /** Returns memory of the runtime's without copying. */
  view(memory: Pointer, bytes: number): ArrayBuffer;
  /** Returns the pointers of a list. */
  pointers(list: Pointer, count: number): Pointer[];
  /** Returns a zero-terminated text. */
  text(characters: Pointer): string;
  /** Undefined if the system takes no advice. */
  readonly memoryAdvice: MemoryAdvice | undefined;
}

/**
 * The index of each function in OrtApi, with its arguments. Every function returns an OrtStatus except those that
 * release something. The order of onnxruntime_c_api.h never changes, because new functions are appended.
 */
const places = {
  CreateEnv: [3, "int, const char *, _Out_ void **"],
  CreateSessionFromArray: [8, "void *, const void *, size_t, void *, _Out_ void **"],
  Run: [9, "void *, void *, const char **, void **, size_t, const char **, size_t, void *"],
  CreateSessionOptions: [10, "_Out_ void **"],
  CreateRunOptions: [39, "_Out_ void **"],
  DisableMemPattern: [17, "void *"],
  SetSessionLogSeverityLevel: [22, "void *, int"],
  SetSessionGraphOptimizationLevel: [23, "void *, int"],
  SetIntraOpNumThreads: [24, "void *, int"],
  SessionGetInputCount: [30, "void *, _Out_ size_t *"],
  SessionGetOutputCount: [31, "void *, _Out_ size_t *"],
  SessionGetInputName: [36, "void *, size_t, void *, _Out_ void **"],
  SessionGetOutputName: [37, "void *, size_t, void *, _Out_ void **"],
  CreateTensorWithDataAsOrtValue: [49, "void *, void *, size_t, const int64_t *, size_t, int, _Out_ void **"],
  GetTensorMutableData: [51, "void *, _Out_ void **"],
  GetTensorElementType: [60, "void *, _Out_ int *"],
  GetDimensionsCount: [61, "void *, _Out_ size_t *"],
  GetDimensions: [62, "void *, void *, size_t"],
  GetTensorShapeElementCount: [64, "void *, _Out_ size_t *"],
  GetTensorTypeAndShape: [65, "void *, _Out_ void **"],
  CreateMemoryInfo: [68, "const char *, int, int, int, _Out_ void **"],
  CreateCpuMemoryInfo: [69, "int, int, _Out_ void **"],
  AllocatorAlloc: [75, "void *, size_t, _Out_ void **"],
  AllocatorFree: [76, "void *, void *"],
  GetAllocatorWithDefaultOptions: [78, "_Out_ void **"],
  ReleaseSession: [95, "void *"],
  ReleaseValue: [96, "void *"],
  ReleaseRunOptions: [97, "void *"],
  ReleaseTensorTypeAndShapeInfo: [99, "void *"],
  ReleaseSessionOptions: [100, "void *"],
  AddSessionConfigEntry: [130, "void *, const char *, const char *"],
  CreateAllocator: [131, "void *, void *, _Out_ void **"],
  ReleaseAllocator: [132, "void *"],
  RunWithBinding: [133, "void *, void *, void *"],
  CreateIoBinding: [134, "void *, _Out_ void **"],
  ReleaseIoBinding: [135, "void *"],
  BindInput: [136, "void *, const char *, void *"],
  BindOutput: [137, "void *, const char *, void *"],
  AddRunConfigEntry: [165, "void *, const char *, const char *"],
  BindOutputToDevice: [138, "void *, const char *, void *"],
  GetBoundOutputValues: [140, "void *, void *, _Out_ void **, _Out_ size_t *"],
  CreateAndRegisterAllocator: [144, "void *, void *, void *"],
  ReleaseArenaCfg: [157, "void *"],
  CreateArenaCfgV2: [164, "const char **, const size_t *, size_t, _Out_ void **"],
  SessionOptionsAppendExecutionProvider: [216, "void *, const char *, const char **, const char **, size_t"],
  SessionOptionsAppendExecutionProvider_CUDA_V2: [204, "void *, void *"],
  CreateCUDAProviderOptions: [205, "_Out_ void **"],
  UpdateCUDAProviderOptions: [206, "void *, const char **, const char **, size_t"],
  ReleaseCUDAProviderOptions: [208, "void *"],
} as const;

/** ORT_LOGGING_LEVEL_ERROR. */
export const errorsOnly = 3;
/**
 * The most bytes of a piece of the shared memory that a tensor may leave unused. A larger rest is used by other
 * tensors. The runtime's default is 128 MiB, which wasted 84 MB in a LoRA step at the shapes of Qwen2.5-0.5B and
 * Llama-3.2-1B.
 */
const leftUnused = 2 ** 20;

/** OrtDeviceAllocator, OrtArenaAllocator, OrtMemTypeDefault. */
const [deviceAllocator, arenaAllocator, defaultMemory] = [0, 1, 0];

const getErrorMessage = 2;
const releaseStatus = 93;
/** A version of the C API that has all of them. Later runtimes support it too. */
const apiVersion = 17;

let loaded: Promise<RuntimeFunctions | undefined> | undefined;

/**
 * Opens ONNX Runtime's C API in the library that onnxruntime-node has loaded. Returns undefined if it can't be called.
 * Then a process warning explains why, once, and models run through onnxruntime-node.
 */
export function runtimeFunctions(): Promise<RuntimeFunctions | undefined> {
  loaded ??= load().catch((cause: unknown) => {
    process.emitWarning(new EverturnError("ONNX_API_UNREACHABLE", { reason: messageOf(cause) }, { cause }));
    return undefined;
  });
  return loaded;
}

async function load(): Promise<RuntimeFunctions> {
  await loadRuntime();
  const { koffi, hasThreads } = await foreignCalls();
  if (!hasThreads) process.emitWarning(new EverturnError("ONNX_RUNS_BLOCK", {}));
  keepLargeBlocksApart(koffi);
  const pointerAt = (table: Pointer, place: number): Pointer =>
    koffi.decode(table, place * koffi.sizeof("void *"), "void *");

  const library = koffi.load(runtimeLibrary());
  const getApi = pointerAt(library.func("void *OrtGetApiBase()")(), 0);
  const api: Pointer = koffi.call(getApi, koffi.proto("void *(uint32_t)"), apiVersion);
  const functionAt = (place: number, prototype: string) =>
    koffi.decode(pointerAt(api, place), koffi.proto(prototype));

  const wordsOf = functionAt(getErrorMessage, "const char *(void *)");
  const release = functionAt(releaseStatus, "void (void *)");
  /** The arguments of calls in other threads, kept from the garbage collector. */
  const underWay = new Set<readonly unknown[]>();
  const call = ([place, parameters]: readonly [number, string], name: string): RuntimeFunction => {
    const released = name.startsWith("Release");
    const native = functionAt(place, `${released ? "void" : "void *"} (${parameters})`);
    const check = (status: Pointer) => {
      if (released || !status) return;
      const reason: string = wordsOf(status);
      release(status);
      throw passError(reason);
    };
    const inThread = (args: readonly unknown[]) =>
      new Promise<Pointer>((resolve, reject) => {
        underWay.add(args);
        native.async(...args, (error: unknown, status: Pointer) => {
          underWay.delete(args);
          if (error) reject(error);
          else resolve(status);
        });
      });
    return Object.assign((...args: readonly unknown[]) => check(native(...args)), {
      async aside(...args: readonly unknown[]) {
        if (!hasThreads) await setImmediate(); // heartbeats and other work get turns
        check(hasThreads ? await inThread(args) : native(...args));
      },
    });
  };
  const functions = Object.entries(places).map(([name, place]) => [name, call(place, name)]);
  const all: Functions = Object.fromEntries(functions);
  const memory = made(all.CreateCpuMemoryInfo, deviceAllocator, defaultMemory);
  const memoryOf = (name: string) => made(all.CreateMemoryInfo, name, deviceAllocator, 0, defaultMemory);
  return {
    ...all,
    environment: environmentOf(all),
    memory,
    cardMemory: { cuda: memoryOf("Cuda"), webgpu: memoryOf("WebGPU_Buffer") },
    view: (at, bytes) => koffi.view(at, bytes),
    pointers: (list, count) => koffi.decode(list, "void *", count),
    text: (characters) => koffi.decode(characters, "char", -1),
    memoryAdvice: memoryAdvice(koffi),
  };
}

/** Returns the environment, with memory that sessions can share ("session.use_env_allocators"). */
function environmentOf(runtime: Functions): Pointer {
  const environment = made(runtime.CreateEnv, errorsOnly, "everturn");
  const memory = made(runtime.CreateCpuMemoryInfo, arenaAllocator, defaultMemory);
  const sizes = BigUint64Array.of(BigInt(leftUnused));
  const arena = made(runtime.CreateArenaCfgV2, ["max_dead_bytes_per_chunk"], sizes, sizes.length);
  try {
    runtime.CreateAndRegisterAllocator(environment, memory, arena);
  } catch (error) {
    // A process has one environment. Another thread or another copy of this module may have created it.
    if (!messageOf(error).includes("already been registered")) throw error;
  } finally {
    runtime.ReleaseArenaCfg(arena);
  }
  return environment;
}

/** Returns the pointer that a function writes to its last argument. */
export function made(create: RuntimeFunction, ...args: readonly unknown[]): Pointer {
  const out: Pointer[] = [null];
  create(...args, out);
  return out[0];
}

/** Calls such a function in another thread. */
export async function madeAside(create: RuntimeFunction, ...args: readonly unknown[]): Promise<Pointer> {
  const out: Pointer[] = [null];
  await create.aside(...args, out);
  return out[0];
}
