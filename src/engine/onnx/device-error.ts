import { EverturnError, isEverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { Device } from "../devices/device.ts";
import { sessionError } from "./pass-error.ts";
import { probeDevice } from "./probe-device.ts";

/**
 * Returns the error for a model that could not be prepared: DEVICE_UNAVAILABLE if the device can't even add, otherwise
 * the original error.
 */
export async function deviceError(device: Device, cause: unknown): Promise<EverturnError> {
  const obstacle = device === "cpu" ? undefined : await probeDevice(device);
  if (obstacle) return new EverturnError("DEVICE_UNAVAILABLE", { device, ...obstacle }, { cause });
  return isEverturnError(cause) ? cause : sessionError(messageOf(cause), cause);
}
