import { type Dimension, product } from "../onnx/dimensions.ts";
import { add, softCap } from "../onnx/elementwise.ts";
import type { FloatValue, IntValue } from "../onnx/graph.ts";
import { matMul } from "../onnx/linear-algebra.ts";
import { softmax } from "../onnx/reductions.ts";
import { rotaryEmbedding } from "../onnx/rotary-embedding.ts";
import { concat, reshape, transpose } from "../onnx/shaping.ts";
import { type DecoderModel, norm, projections } from "./decoder-blocks.ts";
import { families } from "./families.ts";
import { type ModelConfig, scoreScale } from "./model-config.ts";

/** Keys and values of one layer, [batch, kv heads, positions, head size]. */
interface LayerKeyValues {
  keys: FloatValue;
  values: FloatValue;
}

/** The queries of new tokens, [batch, heads, length, head size], their keys and their values. */
export interface HeadInputs extends LayerKeyValues {
  queries: FloatValue;
}

const modules = ["q_proj", "k_proj", "v_proj"];

/** What attention works on, head by head, from normed rows [batch · length, hidden] at positions [batch, length]. */
export function headInputs(
  model: DecoderModel,
  layer: number,
  normed: FloatValue,
  positions: IntValue,
): HeadInputs {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = model.config;
  const { queryKeyNorm } = families[model.config.model_type];
  const parent = `model.layers.${layer}.self_attn`;
  const byHead = (x: FloatValue, count: number) =>
    transpose(reshape(x, ["batch", "length", count, size]), [0, 2, 1, 3]);
  const tables = model.tables(layer);
  const rotated = (x: FloatValue) => (tables ? rotaryEmbedding(x, positions, tables, size) : x);

  const [q, k, v] = projections(model, normed, parent, modules);
  const prepared = (x: FloatValue, count: number, name: string) => {
    const parts = byHead(x, count);
    return rotated(queryKeyNorm ? norm(model, parts, `${parent}.${name}`) : parts);
  };
  return {
    queries: prepared(q!, heads, "q_norm"),
    keys: prepared(k!, groups, "k_norm"),
    values: byHead(v!, groups),
  };
}

/**
 * Attention of new tokens to remembered positions and to each other: rows [batch · length, heads · head size]. The
 * two are joined only where it is small: in the scores, never in keys or values. The mask
 * [batch, 1, length, past + length] is added to the scores.
 */
export function attendToPast(
  { queries, keys, values }: HeadInputs,
  past: LayerKeyValues,
  mask: FloatValue,
  config: ModelConfig,
): FloatValue {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const { attn_logit_softcapping: cap } = config;
  const { graph } = queries;
  const length = mask.shape[2]!;
  const rows = product([heads / groups, length]);
  const grouped = reshape(queries, ["batch", groups, rows, size]);
  const scores = (to: FloatValue) => matMul(grouped, to, { transposeB: true, alpha: scoreScale(config) });
  const joined = concat([scores(past.keys), scores(keys)], -1, "total");
  const capped = cap === null ? joined : softCap(joined, cap);
  const apart = reshape(capped, ["batch", heads, length, "total"]);
  const weights = reshape(softmax(add(apart, mask)), joined.shape);
  const weigh = (from: IntValue, to: IntValue, what: FloatValue, count: Dimension) => {
    const output = { dtype: "float32", shape: ["batch", groups, rows, count] } as const;
    return matMul(graph.emit("Slice", [weights, from, to, graph.ints([3])], output), what);
  };
  const middle = graph.emit("Shape", [past.keys], { dtype: "int64", shape: [1] }, { start: 2, end: 3 });
  const end = graph.ints([Number.MAX_SAFE_INTEGER]);
  const both = add(weigh(graph.ints([0]), middle, past.values, "past"), weigh(middle, end, values, length));
  const merged = transpose(reshape(both, ["batch", heads, length, size]), [0, 2, 1, 3]);
  return reshape(merged, [product(["batch", length]), heads * size]);
}
