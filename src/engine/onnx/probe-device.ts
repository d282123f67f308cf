import { messageOf } from "../../base/errors/message-of.ts";
import type { Device, Obstacle } from "../devices/device.ts";
import { openDevice } from "../devices/open-device.ts";
import { loadRuntime } from "../devices/runtime.ts";
import { add } from "./elementwise.ts";
import { createGraph } from "./graph.ts";
import { modelBytes } from "./model-bytes.ts";

const hints: Readonly<Record<Device, string>> = {
  cpu: "Check that onnxruntime-node is the version that package.json names.",
  cuda: "Check with `nvidia-smi` that the card is seen and its driver is of the 580 series or newer.",
  webgpu: "Check with `vulkaninfo --summary` that the system's Vulkan sees the card.",
};

/** Adds two numbers on a device. Returns the obstacle if that fails. */
export async function probeDevice(device: Device): Promise<Obstacle | undefined> {
  const missing = openDevice(device);
  if (missing) return missing;
  const { InferenceSession, Tensor } = await loadRuntime();
  const graph = createGraph();
  graph.output("sum", add(graph.input("number", "float32", [1]), 1));
  try {
    const session = await InferenceSession.create(modelBytes(graph), {
      executionProviders: [device],
      logSeverityLevel: 4,
    });
    await session.run({ number: new Tensor("float32", Float32Array.of(1), [1]) });
    await session.release();
    return undefined;
  } catch (error) {
    return { reason: shortened(messageOf(error)), hint: hints[device] };
  }
}

/** Returns ONNX Runtime's message without locations in its source. */
function shortened(message: string): string {
  const [failure] = message.match(/CUDA failure \d+: [^;]+(?= ;)/) ?? [];
  return failure ?? message.replace(/^\S*\/onnxruntime_src\/.* was false\. /, "").trim();
}
