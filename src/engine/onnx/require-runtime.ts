import { loadRuntime } from "../devices/runtime.ts";

/** Throws NATIVE_FILES_MISSING, with its remedy, if ONNX Runtime can't be loaded on this machine. */
export async function requireRuntime(): Promise<void> {
  await loadRuntime();
}
