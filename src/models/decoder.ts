import { causalAttention, causalBias } from "../onnx/causal-attention.ts";
import { checkpoint } from "../onnx/checkpoint.ts";
import { product } from "../onnx/dimensions.ts";
import type { FloatValue, IntValue } from "../onnx/graph.ts";
import { gather } from "../onnx/indexing.ts";
import { type PaddedLayout, padRows, unpadRows } from "../onnx/padding.ts";
import { headSizeStep, sequenceAttention, sequenceLengths } from "../onnx/sequence-attention.ts";
import { reshape, transpose } from "../onnx/shaping.ts";
import { tiledAttention, tiledLength } from "../onnx/tiled-attention.ts";
import {
  type AttentionInputs,
  attentionInputs,
  type DecoderModel,
  embedTokens,
  finalNorm,
} from "./decoder-blocks.ts";
import { decoderLayer } from "./decoder-layer.ts";
import { type ModelConfig, scoreScale, windowOf } from "./model-config.ts";

/** What a forward pass reads: whole sequences, one after the other without padding. */
export interface DecoderInputs {
  /** [rows]. */
  tokens: IntValue;
  /** [rows]: where each token stands in its sequence. */
  positions: IntValue;
  /** Where the rows lie when sequences are padded to [batch, length], as attention wants them. */
  layout: PaddedLayout;
  /** The rows whose next token matters: only they go through the last feed-forward block and the heads. */
  actions: IntValue;
}

/** How a forward pass is computed. */
export interface DecoderOptions {
  /** Layers, from the first, of which a backward pass keeps nothing but their inputs, and computes them again. Default 0. */
  recomputed?: number;
  /** Whether attention may use the runtime's own operator for the CPU, in float32; default false. */
  onProcessor?: boolean;
  /** Default "kept". */
  attention?: AttentionForm;
}

/**
 * What a backward pass has of attention's weights: all of them, kept; none, as it makes those of a layer again, or those of a tile of
 * queries: sequences are then padded to whole tiles.
 */
export type AttentionForm = "kept" | "again" | "tiled";

/**
 * Final normed hidden states [actions, hidden] at the wanted rows alone. Of layers that are computed again, the first ones come
 * first: of the last ones a backward pass needs what they kept first, and then has it free. Where the layout's length is
 * `tiledLength`, attention goes tile by tile.
 */
export function decoderForward(
  model: DecoderModel,
  { tokens, positions, layout, actions }: DecoderInputs,
  { recomputed = 0, onProcessor = false, attention = "kept" }: DecoderOptions = {},
): FloatValue {
  const { config } = model;
  const last = config.num_hidden_layers - 1;
  const attendAll = attentionOf(config, layout, onProcessor);
  let hidden = embedTokens(model, tokens);
  for (let layer = 0; layer <= last; layer++) {
    const isRecomputed = layer < recomputed;
    const attend = (normed: FloatValue) => {
      const inputs = attentionInputs(model, layer, normed, positions);
      const attended = () => attendAll(inputs, windowOf(config, layer));
      const { queries, keys, values } = inputs;
      return attention === "again" && !isRecomputed
        ? checkpoint([queries, keys, values], attended)
        : attended();
    };
    const input = hidden;
    const select = layer === last ? (rows: FloatValue) => gather(rows, actions) : undefined;
    const forward = () => decoderLayer(model, layer, input, attend, select);
    hidden = isRecomputed ? checkpoint([input, ...layerParameters(model, layer)], forward) : forward();
  }
  return finalNorm(model, hidden);
}

function layerParameters({ weights, adapter }: DecoderModel, layer: number): FloatValue[] {
  const ofLayer = ([name]: [string, unknown]) => name.startsWith(`model.layers.${layer}.`);
  const pairs = [...(adapter?.pairs ?? [])].filter(ofLayer).flatMap(([, { a, b }]) => [a, b]);
  return [...[...weights].filter(ofLayer).map(([, weight]) => weight), ...pairs];
}

/** Attention of rows to rows of their sequences, by layers' windows. */
type Attention = (inputs: AttentionInputs, window: number | undefined) => FloatValue;

function attentionOf(config: ModelConfig, layout: PaddedLayout, onProcessor: boolean): Attention {
  const { num_attention_heads: heads, num_key_value_heads: groups, attn_logit_softcapping: cap } = config;
  const { graph, shape } = layout.index;
  const [batch, length] = shape;
  const scale = scoreScale(config);
  if (length === tiledLength)
    return byHeads(config, layout, (inputs, window) => tiledAttention(...inputs, window, { scale, cap }));
  if (onProcessor && cap === null && config.head_dim % headSizeStep === 0) {
    const lengths = sequenceLengths(graph, batch!, length!);
    return ({ queries, keys, values }, window) => {
      const padded = [padRows(queries, layout), padRows(keys, layout), padRows(values, layout)] as const;
      const attended = sequenceAttention(padded, lengths, { heads, groups, scale, window });
      return unpadRows(reshape(attended, [product([batch!, length!]), heads * config.head_dim]), layout);
    };
  }
  const biases = new Map<number | undefined, FloatValue>();
  return byHeads(config, layout, (inputs, window) => {
    const bias = biases.get(window) ?? causalBias(graph, length!, window);
    biases.set(window, bias);
    return causalAttention(...inputs, bias, { scale, cap });
  });
}

/** Attention of queries [batch, kv heads, group · length, head size] to keys and values [batch, kv heads, length, head size], for rows. */
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
