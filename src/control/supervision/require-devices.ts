import type { Plan } from "../../contracts/plan.ts";
import { requireDevice } from "../../engine/onnx/require-device.ts";
import { targetOf } from "../../engine/onnx/target.ts";

/** Plugins whose `device` is one of this machine's. */
const local = ["policy-onnx", "trainer-onnx"];

/**
 * Says before anything is started that a device can't be used on this machine, where a run's workers are to start: the
 * policy's, and, if it trains, the trainer's. Throws DEVICE_UNAVAILABLE with the library that is missing.
 */
export function requireDevices({ policy, trainer }: Plan, trains: boolean): void {
  for (const { name, config } of trains ? [policy, trainer] : [policy]) {
    if (local.includes(name)) requireDevice(targetOf(config).device);
  }
}
