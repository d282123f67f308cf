import { nativeFilesMissing } from "../../base/errors/native-files.ts";
import { npmLibrary, runtimeWithCuda } from "./cuda.ts";
import { loadLibrary } from "./native-library.ts";

/**
 * Loads ONNX Runtime. If the CUDA provider was fetched, first loads the library next to the provider. That must happen
 * before anything else loads ONNX Runtime, so do not import onnxruntime-node elsewhere. Throws NATIVE_FILES_MISSING.
 */
export async function loadRuntime(): Promise<typeof import("onnxruntime-node")> {
  const library = runtimeWithCuda();
  if (library !== undefined) loadLibrary(library);
  const runtime = await import("onnxruntime-node").catch((error) => {
    throw nativeFilesMissing(error) ?? error;
  });
  // Some kernels log a warning for each model, which users can do nothing about. A more verbose level stays.
  if (runtime.env.logLevel === "warning") runtime.env.logLevel = "error";
  return runtime;
}

/** Returns the path of the library that onnxruntime-node loads. */
export function runtimeLibrary(): string {
  return runtimeWithCuda() ?? npmLibrary();
}
