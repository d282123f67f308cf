import { nativeFilesMissing } from "../errors/native-files.ts";
import { npmLibrary, runtimeWithCuda } from "./cuda.ts";
import { loadLibrary } from "./native-library.ts";

/**
 * ONNX Runtime. Where the CUDA provider was fetched, its library is loaded from beside the provider, which must
 * come before anything else loads it: import onnxruntime-node nowhere else. Throws NATIVE_FILES_MISSING.
 */
export async function loadRuntime(): Promise<typeof import("onnxruntime-node")> {
  const library = runtimeWithCuda();
  if (library !== undefined) loadLibrary(library);
  return import("onnxruntime-node").catch((error) => {
    throw nativeFilesMissing(error) ?? error;
  });
}

/** The library that onnxruntime-node is loaded with. */
export function runtimeLibrary(): string {
  return runtimeWithCuda() ?? npmLibrary();
}
