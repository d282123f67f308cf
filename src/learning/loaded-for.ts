import { type LazyTensor, loaded, type Tensor } from "../models/safetensors.ts";
import { release } from "../onnx/release.ts";

/** Does `work` with weights in memory. Those that are read for it are given back at once when it has ended. */
export async function loadedFor<Result>(
  tensors: ReadonlyMap<string, Tensor | LazyTensor>,
  work: (weights: ReadonlyMap<string, Tensor>) => Promise<Result>,
): Promise<Result> {
  const weights = new Map<string, Tensor>();
  const read: Tensor[] = [];
  try {
    for (const [name, tensor] of tensors) {
      const found = await loaded(tensor);
      weights.set(name, found);
      if ("load" in tensor) read.push(found);
    }
    return await work(weights);
  } finally {
    for (const { data } of read) release(data);
  }
}
