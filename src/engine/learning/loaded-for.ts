import type { LazyTensor, Tensor } from "../models/weights/safetensors.ts";
import { elementCount } from "../onnx/element-count.ts";
import type { DeviceTensor } from "../onnx/model-session.ts";
import { release } from "../onnx/release.ts";

/** Returns the bytes of the tensors that are not loaded yet. */
export function bytesToLoad(tensors: Iterable<Tensor | DeviceTensor | LazyTensor>): number {
  let bytes = 0;
  for (const tensor of tensors) if ("load" in tensor) bytes += 4 * elementCount(tensor.shape);
  return bytes;
}

/** Runs `work` with loaded tensors. Lazy ones are read first and released afterwards. */
export async function loadedFor<Result>(
  tensors: ReadonlyMap<string, Tensor | DeviceTensor | LazyTensor>,
  work: (loaded: ReadonlyMap<string, Tensor | DeviceTensor>) => Promise<Result>,
): Promise<Result> {
  const loaded = new Map<string, Tensor | DeviceTensor>();
  const read: Tensor[] = [];
  try {
    for (const [name, tensor] of tensors) {
      if (!("load" in tensor)) loaded.set(name, tensor);
      else {
        const found = await tensor.load();
        read.push(found);
        loaded.set(name, found);
      }
    }
    return await work(loaded);
  } finally {
    for (const { data } of read) release(data);
  }
}
