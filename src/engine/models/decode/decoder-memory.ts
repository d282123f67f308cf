import { cudaMemory } from "../../onnx/cuda-memory.ts";
import type { RuntimeFunctions } from "../../onnx/runtime-functions.ts";
import type { Target } from "../../onnx/target.ts";
import { createWebgpuMemory } from "../../onnx/webgpu-memory.ts";
import { cardMemory, type KeyValueMemory, processorMemory } from "./key-value-memory.ts";

/** The memory of a decoder's float32 keys and values. */
export interface DecoderMemory {
  readonly keyValues: KeyValueMemory;
  /** Waits for pending copies. */
  readonly settle?: () => void;
  close(): void;
}

/** Main memory. */
export function ofProcessor(): DecoderMemory {
  return { keyValues: processorMemory("float32"), close() {} };
}

/** The memory of WebGPU's card. Throws DEVICE_UNAVAILABLE. */
export function ofWebgpu(runtime: RuntimeFunctions): DecoderMemory {
  const card = createWebgpuMemory(runtime);
  const keyValues = cardMemory(card, "float32");
  return {
    keyValues,
    close() {
      keyValues.close();
      card.close();
    },
  };
}

/** Returns a device's memory. Throws DEVICE_UNAVAILABLE. */
export async function decoderMemory(
  device: Required<Target>["device"],
  runtime: RuntimeFunctions,
): Promise<DecoderMemory> {
  if (device === "cpu") return ofProcessor();
  if (device === "webgpu") return ofWebgpu(runtime);
  const card = await cudaMemory();
  const keyValues = cardMemory(card, "float32");
  return { keyValues, settle: card.settle, close: keyValues.close };
}
