import { nativeFilesMissing } from "../../base/errors/native-files.ts";
import { npmLibrary, runtimeWithCuda } from "./cuda.ts";
import { loadLibrary } from "./native-library.ts";

/**
 * ONNX Runtime. Where the CUDA provider was fetched, its library is loaded from beside the provider, which must
 * come before anything else loads it: import onnxruntime-node nowhere else. Throws NATIVE_FILES_MISSING.
 */
export async function loadRuntime(): Promise<typeof import("onnxruntime-node")> {
  const library = runtimeWithCuda();
  if (library !== undefined) loadLibrary(library);
  const runtime = await import("onnxruntime-node").catch((error) => {
    throw nativeFilesMissing(error) ?? error;
  });
  // Some kernels warn each time that a model has them, which nothing can be done about. Who asked for more gets it.
  if (runtime.env.logLevel === "warning") runtime.env.logLevel = "error";
  return runtime;
}

/** The library that onnxruntime-node is loaded with. */
export function runtimeLibrary(): string {
  return runtimeWithCuda() ?? npmLibrary();
}
