import type { FloatValue } from "../onnx/graph.ts";
import { reshape } from "../onnx/shaping.ts";
import {
  attentionModules,
  type DecoderModel,
  joinedProjection,
  norm,
  projections,
} from "./decoder-blocks.ts";
import { families } from "./families.ts";

/** Queries, keys and values [batch, length, …] of normed rows, not rotated yet; beside each other if they can be. */
export function attentionRows(
  model: DecoderModel,
  layer: number,
  normed: FloatValue,
): [FloatValue, FloatValue?, FloatValue?] {
  const { head_dim: size, model_type } = model.config;
  const { queryKeyNorm } = families[model_type];
  const parent = `model.layers.${layer}.self_attn`;
  const bySequence = (x: FloatValue) => reshape(x, ["batch", "length", x.shape.at(-1)!]);
  const together =
    queryKeyNorm || model.adapter ? undefined : joinedProjection(model, normed, parent, attentionModules);
  if (together) return [bySequence(together)];
  const [q, k, v] = projections(model, normed, parent, attentionModules);
  if (!queryKeyNorm) return [bySequence(q!), bySequence(k!), bySequence(v!)];
  const normedHeads = (x: FloatValue, name: string) => {
    const heads = Number(x.shape.at(-1)) / size;
    const apart = reshape(x, ["batch", "length", heads, size]);
    return reshape(norm(model, apart, `${parent}.${name}`), ["batch", "length", heads * size]);
  };
  return [normedHeads(q!, "q_norm"), normedHeads(k!, "k_norm"), bySequence(v!)];
}
