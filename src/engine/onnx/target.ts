import type { ConfigurationProblem } from "../../contracts/configuration-problem.ts";
import type { JsonObject } from "../../contracts/json.ts";
import { type Device, devices } from "../devices/device.ts";

/** What matrix products compute in. Everything else, weights and gradients included, stays float32. */
export type Precision = "float32" | "float16" | "bfloat16";

/** Every precision, the default first. */
const precisions: readonly Precision[] = ["float32", "float16", "bfloat16"];

/** What a model is written for. */
export interface Target {
  /** Default "cpu". */
  readonly device?: Device;
  /** Default "float32". On the CPU the others are no faster; WebGPU has no bfloat16. */
  readonly precision?: Precision;
}

/** The target that a plugin's configuration names by `device` and `precision`; the defaults where it names none. */
export function targetOf({ device, precision }: JsonObject): Required<Target> {
  return {
    device: devices.find((name) => name === device) ?? "cpu",
    precision: precisions.find((name) => name === precision) ?? "float32",
  };
}

/** Whether a device computes in a precision: WebGPU has no bfloat16. */
export function hasPrecision(device: Device, precision: Precision): boolean {
  return device !== "webgpu" || precision !== "bfloat16";
}

/** What is wrong with the `device` and `precision` of a plugin's configuration: one that the device does not compute in. */
export function targetProblems(config: JsonObject): ConfigurationProblem[] {
  const { device, precision } = targetOf(config);
  if (hasPrecision(device, precision)) return [];
  const help = "Take float16, or the device cuda.";
  return [{ key: "precision", reason: `is ${precision}, which the device ${device} does not have`, help }];
}
