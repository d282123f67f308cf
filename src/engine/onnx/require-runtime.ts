import { loadRuntime } from "../devices/runtime.ts";

/** Throws NATIVE_FILES_MISSING, which says what to do, if ONNX Runtime can't be loaded on this machine. */
export async function requireRuntime(): Promise<void> {
  await loadRuntime();
}
