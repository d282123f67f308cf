import { families } from "../config/families.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { Tensor } from "../weights/safetensors.ts";
import { attentionModules, joinedName } from "./decoder-blocks.ts";

/**
 * Joins the weights of queries, keys and values under `joinedName`. One product instead of three is faster for small
 * models. (Joining both halves of a gated unit is not, because they would have to be split.) If only some of them have
 * a bias, the others get zeros.
 */
export function joinWeights(
  config: ModelConfig,
  weights: ReadonlyMap<string, Tensor>,
): ReadonlyMap<string, Tensor> {
  const joined = new Map(weights);
  if (families[config.model_type].fused) return joined;
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const prefix = `model.layers.${layer}.self_attn`;
    const take = (key: string) => {
      const tensor = joined.get(key);
      joined.delete(key);
      return tensor;
    };
    const matrices = attentionModules.map((module) => take(`${prefix}.${module}.weight`)!);
    const biases = attentionModules.map((module, at) => {
      const [outputs] = matrices[at]!.shape;
      return take(`${prefix}.${module}.bias`) ?? { shape: [outputs!], data: new Float32Array(outputs!) };
    });
    const name = `${prefix}.${joinedName(attentionModules)}`;
    joined.set(`${name}.weight`, stacked(matrices));
    if (weights.has(`${prefix}.${attentionModules[0]}.bias`)) joined.set(`${name}.bias`, stacked(biases));
  }
  return joined;
}

/** Stacks tensors vertically. */
function stacked(tensors: readonly Tensor[]): Tensor {
  const data = new Float32Array(tensors.reduce((total, tensor) => total + tensor.data.length, 0));
  let at = 0;
  for (const tensor of tensors) {
    data.set(tensor.data, at);
    at += tensor.data.length;
  }
  const rows = tensors.reduce((total, { shape }) => total + shape[0]!, 0);
  return { shape: [rows, ...tensors[0]!.shape.slice(1)], data };
}
