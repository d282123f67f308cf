import { EverturnError } from "../../base/errors/everturn-error.ts";
import { createCudaSession } from "./cuda-session.ts";
import { deviceError } from "./device-error.ts";
import type { ModelSession, ModelSessionOptions } from "./model-session.ts";
import { createNodeSession } from "./node-session.ts";
import { requireDevice } from "./require-device.ts";
import { runtimeFunctions } from "./runtime-functions.ts";

/**
 * Creates an ONNX Runtime session from a model's bytes. Throws DEVICE_UNAVAILABLE, with the obstacle, if the device
 * can't be used here, and ONNX_SESSION_FAILED if the runtime rejects the model.
 */
export async function createModelSession(
  model: Uint8Array,
  options: ModelSessionOptions = {},
): Promise<ModelSession> {
  const device = options.device ?? "cpu";
  requireDevice(device);
  try {
    return device === "cuda" ? await openCuda(model, options) : await createNodeSession(model, options);
  } catch (cause) {
    throw await deviceError(device, cause);
  }
}

/** Uses the runtime's C API, because onnxruntime-node can't leave outputs on an NVIDIA card. */
async function openCuda(model: Uint8Array, options: ModelSessionOptions): Promise<ModelSession> {
  const runtime = await runtimeFunctions();
  if (runtime) return createCudaSession(runtime, model, options);
  const obstacle = {
    reason: "ONNX Runtime's C API can't be called",
    hint: "Install koffi with its prebuilt package.",
  };
  throw new EverturnError("DEVICE_UNAVAILABLE", { device: "cuda", ...obstacle });
}
