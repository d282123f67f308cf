import type { Tensor } from "./model-session.ts";
import { passError } from "./pass-error.ts";

/** Returns the numbers of a float32 output. Throws ONNX_RUN_FAILED for another type. */
export function floatsOf(name: string, { data }: Tensor): Float32Array {
  if (data instanceof Float32Array) return data;
  throw passError(`the output ${name} is not float32`);
}
