import type { Device } from "../devices/device.ts";

/** What matrix products compute in. Everything else, weights and gradients included, stays float32. */
export type Precision = "float32" | "float16" | "bfloat16";

/** Every precision, the default first. */
export const precisions: readonly Precision[] = ["float32", "float16", "bfloat16"];

/** What a model is written for. */
export interface Target {
  /** Default "cpu". */
  readonly device?: Device;
  /** Default "float32". On the CPU the others are no faster; WebGPU has no bfloat16. */
  readonly precision?: Precision;
}
