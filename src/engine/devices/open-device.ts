import { loadCuda } from "./cuda.ts";
import type { Device, Obstacle } from "./device.ts";
import { loadWebgpu } from "./webgpu.ts";

/** Loads the libraries that a device needs. Returns the obstacle if one is missing. */
export function openDevice(device: Device): Obstacle | undefined {
  if (device === "cuda") return loadCuda();
  if (device === "webgpu") return loadWebgpu();
  return undefined;
}
