import type { Plan } from "../../contracts/plan.ts";
import { requireDevice } from "../../engine/onnx/require-device.ts";
import { targetOf } from "../../engine/onnx/target.ts";

/** Plugins whose `device` belongs to this machine. */
const local = ["policy-onnx", "trainer-onnx"];

/**
 * Checks before the start that this machine can use the devices of a run whose workers run here: the policy's, and
 * the trainer's if it trains. Throws DEVICE_UNAVAILABLE with the missing library.
 */
export function requireDevices({ policy, trainer }: Plan, trains: boolean): void {
  for (const { name, config } of trains ? [policy, trainer] : [policy]) {
    if (local.includes(name)) requireDevice(targetOf(config).device);
  }
}
