import type { ConfigurationProblem } from "../../contracts/configuration-problem.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { type Device, devices } from "../devices/device.ts";

/** The type of matrix products. Everything else, including weights and gradients, stays float32. */
export type Precision = "float32" | "float16" | "bfloat16";

/** Every precision, the default first. */
const precisions: readonly Precision[] = ["float32", "float16", "bfloat16"];

/** The device and the precision that a model is built for. */
export interface Target {
  /** Default: "cpu". */
  readonly device?: Device;
  /** Default: "float32". On the CPU the others are not faster. WebGPU does not support bfloat16. */
  readonly precision?: Precision;
}

/** Returns the target of a plugin's configuration, from its `device` and `precision` or their defaults. */
export function targetOf({ device, precision }: JsonObject): Required<Target> {
  return {
    device: devices.find((name) => name === device) ?? "cpu",
    precision: precisions.find((name) => name === precision) ?? "float32",
  };
}

/** Whether a device supports a precision. WebGPU does not support bfloat16. */
export function hasPrecision(device: Device, precision: Precision): boolean {
  return device !== "webgpu" || precision !== "bfloat16";
}

/**
 * Returns the problems of `device` and `precision` in a plugin's configuration: a precision that the device does not
 * support.
 */
export function targetProblems(config: JsonObject): ConfigurationProblem[] {
  const { device, precision } = targetOf(config);
  if (hasPrecision(device, precision)) return [];
  const help = "Take float16, or the device cuda.";
  return [{ key: "precision", reason: `is ${precision}, which the device ${device} does not have`, help }];
}
