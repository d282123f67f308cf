import type { Obstacle } from "./device.ts";
import { loadLibrary } from "./native-library.ts";

const builtFor = ["linux x64", "darwin x64", "darwin arm64", "win32 x64", "win32 arm64"];

/** Loads WebGPU's dependency, on Linux the Vulkan loader. Returns the obstacle if it is missing. */
export function loadWebgpu(): Obstacle | undefined {
  const machine = `${process.platform} ${process.arch}`;
  if (!builtFor.includes(machine)) {
    return { reason: `ONNX Runtime has no WebGPU for ${machine}`, hint: "Use `cpu`." };
  }
  if (process.platform !== "linux" || loadLibrary("libvulkan.so.1") === undefined) return undefined;
  return {
    reason: "there is no Vulkan loader (libvulkan.so.1)",
    hint: "Install it (Debian and Ubuntu: `apt install libvulkan1`) in addition to the card's own driver.",
  };
}
