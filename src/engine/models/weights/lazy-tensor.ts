import { type LazyTensor, loaded, type Tensor } from "./safetensors.ts";

/** Applies a change to a tensor once it is loaded. */
export function lazily(tensor: Tensor | LazyTensor, change: (tensor: Tensor) => Tensor): LazyTensor {
  return { shape: tensor.shape, load: async () => change(await loaded(tensor)) };
}

/** Loads tensors into memory. */
export async function loadAll(
  tensors: ReadonlyMap<string, Tensor | LazyTensor>,
): Promise<Map<string, Tensor>> {
  const held = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) held.set(name, await loaded(tensor));
  return held;
}
