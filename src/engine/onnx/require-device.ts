import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { Device } from "../devices/device.ts";
import { openDevice } from "../devices/open-device.ts";

/** Loads the libraries that a device needs. Throws DEVICE_UNAVAILABLE with the obstacle. */
export function requireDevice(device: Device): void {
  const missing = openDevice(device);
  if (missing) throw new EverturnError("DEVICE_UNAVAILABLE", { device, ...missing });
}
