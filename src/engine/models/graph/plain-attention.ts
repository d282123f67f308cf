import { product } from "../../onnx/dimensions.ts";
import { add, softCap } from "../../onnx/elementwise.ts";
import type { FloatValue, IntValue } from "../../onnx/graph.ts";
import { matMul } from "../../onnx/linear-algebra.ts";
import { softmax } from "../../onnx/reductions.ts";
import { rotaryEmbedding } from "../../onnx/rotary-embedding.ts";
import { reshape, transpose } from "../../onnx/shaping.ts";
import { type ModelConfig, scoreScale } from "../config/model-config.ts";
import { attentionModules, type DecoderModel, projections, queryKeyNorm } from "./decoder-blocks.ts";

/** Keys and values of one layer, [batch, kv heads, positions, head size]. */
interface LayerKeyValues {
  keys: FloatValue;
  values: FloatValue;
}

/** The queries of new tokens, [batch, heads, length, head size], their keys and their values. */
export interface HeadInputs extends LayerKeyValues {
  queries: FloatValue;
}

/** Returns the inputs of attention by head, from normed rows [batch · length, hidden] at positions [batch, length]. */
export function headInputs(
  model: DecoderModel,
  layer: number,
  normed: FloatValue,
  positions: IntValue,
): HeadInputs {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = model.config;
  const parent = `model.layers.${layer}.self_attn`;
  const byHead = (x: FloatValue, count: number) =>
    transpose(reshape(x, ["batch", "length", count, size]), [0, 2, 1, 3]);
  const tables = model.tables(layer);
  const rotated = (x: FloatValue) => (tables ? rotaryEmbedding(x, positions, tables, size) : x);

  const [q, k, v] = projections(model, normed, parent, attentionModules);
  const prepared = (x: FloatValue, count: number, name: string) =>
    rotated(byHead(queryKeyNorm(model, x, `${parent}.${name}`), count));
  return {
    queries: prepared(q!, heads, "q_norm"),
    keys: prepared(k!, groups, "k_norm"),
    values: byHead(v!, groups),
  };
}

/**
 * Computes attention of new tokens to cached positions and to each other. Returns rows [batch · length, heads · head
 * size], and keys and values with the new ones at their places [batch, kv heads, length, 3] (row, head, position). If
 * these two are bound to the memory of the cached ones, only the new ones are written. The mask [batch, 1, length,
 * capacity] is added to the scores.
 */
export function rememberAndAttend(
  { queries, ...fresh }: HeadInputs,
  past: LayerKeyValues,
  places: IntValue,
  mask: FloatValue,
  config: ModelConfig,
): { attended: FloatValue } & LayerKeyValues {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const { attn_logit_softcapping: cap } = config;
  const { graph } = queries;
  const length = mask.shape[2]!;
  const rows = product([heads / groups, length]);
  const written = (to: FloatValue, what: FloatValue) =>
    graph.emit("ScatterND", [to, places, what], { dtype: "float32", shape: to.shape });
  const keys = written(past.keys, fresh.keys);
  const values = written(past.values, fresh.values);
  const grouped = reshape(queries, ["batch", groups, rows, size]);
  const scores = matMul(grouped, keys, { transposeB: true, alpha: scoreScale(config) });
  const capped = cap === null ? scores : softCap(scores, cap);
  const apart = reshape(capped, ["batch", heads, length, "capacity"]);
  const weights = reshape(softmax(add(apart, mask)), scores.shape);
  const byHead = reshape(matMul(weights, values), ["batch", heads, length, size]);
  const attended = reshape(transpose(byHead, [0, 2, 1, 3]), [product(["batch", length]), heads * size]);
  return { attended, keys, values };
}
