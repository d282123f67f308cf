import { cudaMemory } from "../../onnx/cuda-memory.ts";
import type { RuntimeFunctions } from "../../onnx/runtime-functions.ts";
import type { Target } from "../../onnx/target.ts";
import { createWebgpuMemory } from "../../onnx/webgpu-memory.ts";
import { cardMemory, type KeyValueMemory, processorMemory } from "./key-value-memory.ts";

/** Where a decoder keeps keys and values of float32. */
export interface DecoderMemory {
  readonly keyValues: KeyValueMemory;
  /** Waits for copies that were asked for. */
  readonly settle?: () => void;
  close(): void;
}

/** The processor's. */
export function ofProcessor(): DecoderMemory {
  return { keyValues: processorMemory("float32"), close() {} };
}

/** That of the card that WebGPU works on. Throws DEVICE_UNAVAILABLE. */
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

/** A device's. Throws DEVICE_UNAVAILABLE. */
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
