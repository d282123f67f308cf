import { EverturnError } from "../../../base/errors/everturn-error.ts";
import type { Adapter } from "./adapter-folder.ts";
import { lazily } from "./lazy-tensor.ts";
import type { LazyTensor, Tensor } from "./safetensors.ts";

/**
 * Merges an adapter into weights as they are loaded: W + alpha / rank · B A for each adapted module. Other weights stay
 * unchanged. Throws MODEL_WEIGHTS_MISMATCH if an adapted weight is missing.
 */
export function mergeAdapter<Weight extends Tensor | LazyTensor>(
  weights: ReadonlyMap<string, Weight>,
  { config, tensors }: Adapter,
): Map<string, Weight | LazyTensor> {
  const merged = new Map<string, Weight | LazyTensor>(weights);
  for (const [name, a] of tensors) {
    if (!name.endsWith(".lora_A.weight")) continue;
    const module = name.slice(0, -".lora_A.weight".length);
    const b = tensors.get(`${module}.lora_B.weight`)!;
    const weight = weights.get(`${module}.weight`);
    const shape = [b.shape[0]!, a.shape[1]!];
    if (weight?.shape.join() !== shape.join()) {
      const found = weight === undefined ? "missing" : `[${weight.shape.join(", ")}]`;
      const reason = `the adapter changes ${module}.weight, which should be [${shape.join(", ")}], but is ${found}`;
      throw new EverturnError("MODEL_WEIGHTS_MISMATCH", { reason });
    }
    const scale = config.alpha / config.rank;
    merged.set(
      `${module}.weight`,
      lazily(weight, (own) => addProduct(own, b, a, scale)),
    );
  }
  return merged;
}

/** Returns weight + scale · B A. */
function addProduct(weight: Tensor, b: Tensor, a: Tensor, scale: number): Tensor {
  const [rank, columns] = [a.shape[0]!, a.shape[1]!];
  const data = new Float32Array(weight.data.length);
  const change = new Float64Array(columns);
  for (let row = 0, at = 0; at < data.length; row++) {
    change.fill(0);
    for (let k = 0; k < rank; k++) {
      const factor = scale * b.data[row * rank + k]!;
      for (let column = 0; column < columns; column++)
        change[column]! += factor * a.data[k * columns + column]!;
    }
    for (let column = 0; column < columns; column++, at++) data[at] = weight.data[at]! + change[column]!;
  }
  return { shape: weight.shape, data };
}
