import { causalAttention, causalBias } from "../../onnx/causal-attention.ts";
import { product } from "../../onnx/dimensions.ts";
import type { FloatValue, IntValue } from "../../onnx/graph.ts";
import { type PaddedLayout, padRows, unpadRows } from "../../onnx/padding.ts";
import { prefixedAttention, prefixedBias } from "../../onnx/prefixed-attention.ts";
import { joinRows, takeRows } from "../../onnx/row-subsets.ts";
import { headSizeStep, sequenceAttention, sequenceLengths } from "../../onnx/sequence-attention.ts";
import { reshape, transpose } from "../../onnx/shaping.ts";
import { tiledAttention, tiledLength } from "../../onnx/tiled-attention.ts";
import { type ModelConfig, scoreScale } from "../config/model-config.ts";
import type { AttentionInputs } from "./decoder-blocks.ts";

/** The numbers of the rows that all sequences begin with, which come first, and those of the other rows. */
export interface PrefixRows {
  /** [prefix]. */
  rows: IntValue;
  /** [own]. */
  own: IntValue;
}

/** Attention of rows to rows of their sequences, within a layer's window. */
export type Attention = (inputs: AttentionInputs, window: number | undefined) => FloatValue;

/**
 * Returns attention over whole sequences, whose rows follow each other. If the layout's length is `tiledLength`, it
 * runs tile by tile. If there is a prefix, it runs after that. `onProcessor`: it may use the runtime's own CPU
 * operator.
 */
export function wholeAttention(
  config: ModelConfig,
  layout: PaddedLayout,
  prefix: PrefixRows | undefined,
  onProcessor: boolean,
): Attention {
  if (prefix) return attentionAfter(config, layout, prefix);
  const { num_attention_heads: heads, num_key_value_heads: groups, attn_logit_softcapping: cap } = config;
  const { graph, shape } = layout.index;
  const [batch, length] = shape;
  const scale = scoreScale(config);
  if (length === tiledLength)
    return byHeads(config, layout, (inputs, window) => tiledAttention(...inputs, window, { scale, cap }));
  if (onProcessor && suitsOperator(config)) {
    const lengths = sequenceLengths(graph, batch!, length!);
    return ({ queries, keys, values }, window) => {
      const padded = [padRows(queries, layout), padRows(keys, layout), padRows(values, layout)] as const;
      const attended = sequenceAttention(padded, lengths, { heads, groups, scale, window });
      return unpadRows(reshape(attended, [product([batch!, length!]), heads * config.head_dim]), layout);
    };
  }
  const biasOf = remembered((window) => causalBias(graph, length!, window));
  return byHeads(config, layout, (inputs, window) =>
    causalAttention(...inputs, biasOf(window), { scale, cap }),
  );
}

/**
 * Whether the runtime's own CPU operator supports a model's heads: scores without a cap, and a head size that is a
 * multiple of 8.
 */
export function suitsOperator({ attn_logit_softcapping: cap, head_dim: size }: ModelConfig): boolean {
  return cap === null && size % headSizeStep === 0;
}

/**
 * Returns attention for sequences with a common prefix. The prefix attends to itself, and the rest to both. For the
 * CPU, and scores without a cap.
 */
function attentionAfter(config: ModelConfig, layout: PaddedLayout, { rows, own }: PrefixRows): Attention {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const { graph, shape } = layout.index;
  const length = shape[1]!;
  const prefix = rows.shape[0]!;
  const scale = scoreScale(config);
  const lengths = sequenceLengths(graph, 1, prefix);
  const biasOf = remembered((window) => prefixedBias(graph, length, prefix, window));
  return (inputs, window) => {
    const taken = (x: FloatValue) => reshape(takeRows(x, rows), [1, prefix, x.shape[1]!]);
    const [queries, keys, values] = [taken(inputs.queries), taken(inputs.keys), taken(inputs.values)];
    const options = { heads, groups, scale, window };
    const first = reshape(sequenceAttention([queries, keys, values], lengths, options), [
      prefix,
      heads * size,
    ]);
    const byHead = (x: FloatValue) => transpose(reshape(x, [1, prefix, groups, size]), [0, 2, 1, 3]);
    const before = { keys: byHead(keys), values: byHead(values) };
    const attend = byHeads(config, layout, ([ownQueries, ownKeys, ownValues]) =>
      prefixedAttention(ownQueries, before, { keys: ownKeys, values: ownValues }, biasOf(window), { scale }),
    );
    const apart = {
      queries: takeRows(inputs.queries, own),
      keys: takeRows(inputs.keys, own),
      values: takeRows(inputs.values, own),
    };
    return joinRows([first, attend(apart, window)], [rows, own], "rows");
  };
}

/** Caches a value per window. */
function remembered(make: (window: number | undefined) => FloatValue): typeof make {
  const made = new Map<number | undefined, FloatValue>();
  return (window) => {
    const known = made.get(window) ?? make(window);
    made.set(window, known);
    return known;
  };
}

/**
 * Computes attention of queries [batch, kv heads, group · length, head size] to keys and values [batch, kv heads,
 * length, head size]. Returns rows.
 */
function byHeads(
  config: ModelConfig,
  layout: PaddedLayout,
  attention: (
    inputs: [queries: FloatValue, keys: FloatValue, values: FloatValue],
    window?: number,
  ) => FloatValue,
): Attention {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const [batch, length] = layout.index.shape;
  const byHead = (x: FloatValue, count: number) =>
    transpose(reshape(padRows(x, layout), [batch!, length!, count, size]), [0, 2, 1, 3]);
  const grouped = [batch!, groups, product([heads / groups, length!]), size];
  return ({ queries, keys, values }, window) => {
    const ofGroups = reshape(byHead(queries, heads), grouped);
    const attended = attention([ofGroups, byHead(keys, groups), byHead(values, groups)], window);
    const merged = transpose(reshape(attended, [batch!, heads, length!, size]), [0, 2, 1, 3]);
    return unpadRows(reshape(merged, [product([batch!, length!]), heads * size]), layout);
  };
}
