/** Where a model runs: the CPU, an NVIDIA card through CUDA, or any card through WebGPU (over Vulkan on Linux). */
export type Device = "cpu" | "cuda" | "webgpu";

/** A device with its own memory, where outputs can stay. */
export type Card = Exclude<Device, "cpu">;

/** Every device, the default first. */
export const devices: readonly Device[] = ["cpu", "cuda", "webgpu"];

/** Why a device can't be used, and what to do about it. */
export interface Obstacle {
  readonly reason: string;
  readonly hint: string;
}
