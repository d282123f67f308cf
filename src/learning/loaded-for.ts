import type { LazyTensor, Tensor } from "../models/safetensors.ts";
import { release } from "../onnx/release.ts";
import type { DeviceTensor } from "../onnx/session.ts";

/** Does `work` with tensors that are all there. Lazy ones are read for it, and given back at once when it has ended. */
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
