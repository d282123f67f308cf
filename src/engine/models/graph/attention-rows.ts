import type { FloatValue } from "../../onnx/graph.ts";
import { reshape } from "../../onnx/shaping.ts";
import { families } from "../config/families.ts";
import {
  attentionModules,
  type DecoderModel,
  joinedProjection,
  projections,
  queryKeyNorm,
} from "./decoder-blocks.ts";

/** Returns queries, keys and values [batch, length, …] of normed rows before their rotation, joined if possible. */
export function attentionRows(
  model: DecoderModel,
  layer: number,
  normed: FloatValue,
): [FloatValue, FloatValue?, FloatValue?] {
  const isNormed = families[model.config.model_type].queryKeyNorm !== "none";
  const parent = `model.layers.${layer}.self_attn`;
  const bySequence = (x: FloatValue) => reshape(x, ["batch", "length", x.shape.at(-1)!]);
  const together =
    isNormed || model.adapter ? undefined : joinedProjection(model, normed, parent, attentionModules);
  if (together) return [bySequence(together)];
  const [q, k, v] = projections(model, normed, parent, attentionModules);
  const ready = (x: FloatValue, name: string) => bySequence(queryKeyNorm(model, x, `${parent}.${name}`));
  return [ready(q!, "q_norm"), ready(k!, "k_norm"), bySequence(v!)];
}
