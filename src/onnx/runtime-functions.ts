import koffi from "koffi";
import { loadRuntime, runtimeLibrary } from "../devices/runtime.ts";
import { runError } from "./run-error.ts";

/** A pointer of ONNX Runtime's; what it points to is the runtime's business. */
export type Pointer = unknown;

/** Calls a function of the C API; throws ONNX_RUN_FAILED with the runtime's words if it fails. */
export type RuntimeCall = (...args: readonly unknown[]) => void;

/** Functions of ONNX Runtime's C API, by its names. */
export type RuntimeFunctions = Readonly<Record<keyof typeof places, RuntimeCall>>;

/**
 * The place of each function in OrtApi, with its arguments; every function gives an OrtStatus but those that release
 * something. The order of onnxruntime_c_api.h never changes: new functions come at its end.
 */
const places = {
  CreateEnv: [3, "int, const char *, _Out_ void **"],
  CreateSessionFromArray: [8, "void *, const void *, size_t, void *, _Out_ void **"],
  CreateSessionOptions: [10, "_Out_ void **"],
  DisableMemPattern: [17, "void *"],
  SetSessionLogSeverityLevel: [22, "void *, int"],
  SetSessionGraphOptimizationLevel: [23, "void *, int"],
  SetIntraOpNumThreads: [24, "void *, int"],
  CreateTensorWithDataAsOrtValue: [49, "void *, void *, size_t, const int64_t *, size_t, int, _Out_ void **"],
  CreateCpuMemoryInfo: [69, "int, int, _Out_ void **"],
  ReleaseSession: [95, "void *"],
  ReleaseValue: [96, "void *"],
  ReleaseSessionOptions: [100, "void *"],
  AddSessionConfigEntry: [130, "void *, const char *, const char *"],
  RunWithBinding: [133, "void *, void *, void *"],
  CreateIoBinding: [134, "void *, _Out_ void **"],
  ReleaseIoBinding: [135, "void *"],
  BindInput: [136, "void *, const char *, void *"],
  BindOutput: [137, "void *, const char *, void *"],
} as const;

const getErrorMessage = 2;
const releaseStatus = 93;
/** A version of the C API that has them all; later runtimes have it too. */
const apiVersion = 17;

let loaded: RuntimeFunctions | undefined;

/** ONNX Runtime's C API, of the library that onnxruntime-node brings and has loaded. */
export async function runtimeFunctions(): Promise<RuntimeFunctions> {
  if (loaded) return loaded;
  await loadRuntime();
  const library = koffi.load(runtimeLibrary());
  const base: Pointer = library.func("void *OrtGetApiBase()")();
  const [getApi]: Pointer[] = koffi.decode(base, koffi.array("void *", 1));
  const api: Pointer = koffi.call(getApi, koffi.proto("void *(uint32_t)"), apiVersion);
  const table: Pointer[] = koffi.decode(api, koffi.array("void *", 138));

  const messageOf = koffi.decode(table[getErrorMessage], koffi.proto("const char *(void *)"));
  const release = koffi.decode(table[releaseStatus], koffi.proto("void (void *)"));
  const call = ([place, parameters]: readonly [number, string], name: string): RuntimeCall => {
    const released = name.startsWith("Release");
    const result = released ? "void" : "void *";
    const native = koffi.decode(table[place], koffi.proto(`${result} (${parameters})`));
    if (released) return native;
    return (...args) => {
      const status: Pointer = native(...args);
      if (!status) return;
      const reason: string = messageOf(status);
      release(status);
      throw runError(reason);
    };
  };
  const functions = Object.entries(places).map(([name, place]) => [name, call(place, name)]);
  loaded = Object.fromEntries(functions);
  return loaded!;
}

/** What a function gives in its last argument. */
export function made(create: RuntimeCall, ...args: readonly unknown[]): Pointer {
  const out: Pointer[] = [null];
  create(...args, out);
  return out[0];
}
