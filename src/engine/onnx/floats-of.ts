import { runError } from "./run-error.ts";
import type { Tensor } from "./session.ts";

/** Returns the numbers of a float32 output. Throws ONNX_RUN_FAILED for another type. */
export function floatsOf(name: string, { data }: Tensor): Float32Array {
  if (data instanceof Float32Array) return data;
  throw runError(`the output ${name} is not float32`);
}
