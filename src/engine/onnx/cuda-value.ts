import type { Pointer } from "./runtime-functions.ts";

/** A value of the runtime's in the memory of an NVIDIA card. */
export interface CudaValue {
  readonly cudaValue: Pointer;
}
