import koffi from "koffi";
import { loadRuntime, runtimeLibrary } from "../devices/runtime.ts";
import { runError } from "./run-error.ts";

/** A pointer of ONNX Runtime's; what it points to is the runtime's business. */
export type Pointer = unknown;

/** Calls a function of the C API; throws ONNX_RUN_FAILED with the runtime's words if it fails. */
export interface RuntimeCall {
  (...args: readonly unknown[]): void;
  /** The same in another thread, while this one goes on. */
  aside(...args: readonly unknown[]): Promise<void>;
}

/** Functions of ONNX Runtime's C API, by its names. */
type Functions = Readonly<Record<keyof typeof places, RuntimeCall>>;

/** The functions, the process's environment, in which they make sessions, and what they call the processor's memory. */
export type RuntimeFunctions = Functions & { readonly environment: Pointer; readonly memory: Pointer };

/**
 * The place of each function in OrtApi, with its arguments; every function gives an OrtStatus but those that release
 * something. The order of onnxruntime_c_api.h never changes: new functions come at its end.
 */
const places = {
  CreateEnv: [3, "int, const char *, _Out_ void **"],
  CreateSessionFromArray: [8, "void *, const void *, size_t, void *, _Out_ void **"],
  Run: [9, "void *, void *, const char **, void **, size_t, const char **, size_t, _Inout_ void **"],
  CreateSessionOptions: [10, "_Out_ void **"],
  DisableMemPattern: [17, "void *"],
  SetSessionLogSeverityLevel: [22, "void *, int"],
  SetSessionGraphOptimizationLevel: [23, "void *, int"],
  SetIntraOpNumThreads: [24, "void *, int"],
  CreateTensorWithDataAsOrtValue: [49, "void *, void *, size_t, const int64_t *, size_t, int, _Out_ void **"],
  GetTensorMutableData: [51, "void *, _Out_ void **"],
  GetTensorShapeElementCount: [64, "void *, _Out_ size_t *"],
  GetTensorTypeAndShape: [65, "void *, _Out_ void **"],
  CreateCpuMemoryInfo: [69, "int, int, _Out_ void **"],
  ReleaseSession: [95, "void *"],
  ReleaseValue: [96, "void *"],
  ReleaseTensorTypeAndShapeInfo: [99, "void *"],
  ReleaseSessionOptions: [100, "void *"],
  AddSessionConfigEntry: [130, "void *, const char *, const char *"],
  RunWithBinding: [133, "void *, void *, void *"],
  CreateIoBinding: [134, "void *, _Out_ void **"],
  ReleaseIoBinding: [135, "void *"],
  BindInput: [136, "void *, const char *, void *"],
  BindOutput: [137, "void *, const char *, void *"],
  CreateAndRegisterAllocator: [144, "void *, void *, void *"],
} as const;

/** ORT_LOGGING_LEVEL_ERROR. */
export const errorsOnly = 3;
/** OrtDeviceAllocator, OrtArenaAllocator, OrtMemTypeDefault. */
const [deviceAllocator, arenaAllocator, defaultMemory] = [0, 1, 0];

const getErrorMessage = 2;
const releaseStatus = 93;
/** A version of the C API that has them all; later runtimes have it too. */
const apiVersion = 17;

let loaded: Promise<RuntimeFunctions> | undefined;

/** ONNX Runtime's C API, of the library that onnxruntime-node brings and has loaded. */
export function runtimeFunctions(): Promise<RuntimeFunctions> {
  loaded ??= load();
  return loaded;
}

/** Bytes of stack for a call: koffi gives calls one of its own, 128 KiB without this, and nothing guards its end. */
const stackBytes = 8 * 2 ** 20;

async function load(): Promise<RuntimeFunctions> {
  await loadRuntime();
  koffi.config({ sync_stack_size: stackBytes, async_stack_size: stackBytes });
  const library = koffi.load(runtimeLibrary());
  const base: Pointer = library.func("void *OrtGetApiBase()")();
  const [getApi]: Pointer[] = koffi.decode(base, koffi.array("void *", 1));
  const api: Pointer = koffi.call(getApi, koffi.proto("void *(uint32_t)"), apiVersion);
  const table: Pointer[] = koffi.decode(api, koffi.array("void *", 145));

  const messageOf = koffi.decode(table[getErrorMessage], koffi.proto("const char *(void *)"));
  const release = koffi.decode(table[releaseStatus], koffi.proto("void (void *)"));
  const call = ([place, parameters]: readonly [number, string], name: string): RuntimeCall => {
    const released = name.startsWith("Release");
    const result = released ? "void" : "void *";
    const native = koffi.decode(table[place], koffi.proto(`${result} (${parameters})`));
    const check = (status: Pointer) => {
      if (released || !status) return;
      const reason: string = messageOf(status);
      release(status);
      throw runError(reason);
    };
    const aside = (...args: readonly unknown[]) =>
      new Promise<Pointer>((resolve, reject) => {
        native.async(...args, (error: unknown, status: Pointer) => (error ? reject(error) : resolve(status)));
      });
    return Object.assign((...args: readonly unknown[]) => check(native(...args)), {
      aside: async (...args: readonly unknown[]) => check(await aside(...args)),
    });
  };
  const functions = Object.entries(places).map(([name, place]) => [name, call(place, name)]);
  const all: Functions = Object.fromEntries(functions);
  const memory = made(all.CreateCpuMemoryInfo, deviceAllocator, defaultMemory);
  return { ...all, environment: environmentOf(all), memory };
}

/** The environment, with a memory for those sessions to share that want it ("session.use_env_allocators"). */
function environmentOf(runtime: Functions): Pointer {
  const environment = made(runtime.CreateEnv, errorsOnly, "everturn");
  const memory = made(runtime.CreateCpuMemoryInfo, arenaAllocator, defaultMemory);
  runtime.CreateAndRegisterAllocator(environment, memory, null);
  return environment;
}

/** What a function gives in its last argument. */
export function made(create: RuntimeCall, ...args: readonly unknown[]): Pointer {
  const out: Pointer[] = [null];
  create(...args, out);
  return out[0];
}
