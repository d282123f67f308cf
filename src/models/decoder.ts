import { causalAttention, causalBias } from "../onnx/causal-attention.ts";
import { checkpoint } from "../onnx/checkpoint.ts";
import { product } from "../onnx/dimensions.ts";
import type { FloatValue, IntValue } from "../onnx/graph.ts";
import { type PaddedLayout, padRows, unpadRows } from "../onnx/padding.ts";
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

/**
 * Final normed hidden states [actions, hidden] at the wanted rows alone. Of the first `recomputed` layers a backward pass keeps
 * nothing but their inputs, and computes them again (of the last ones it needs what they kept first, and then has it free). Where the layout's length is `tiledLength`, attention
 * goes tile by tile.
 */
export function decoderForward(
  model: DecoderModel,
  { tokens, positions, layout, actions }: DecoderInputs,
  recomputed = 0,
): FloatValue {
  const { config } = model;
  const last = config.num_hidden_layers - 1;
  const [, length] = layout.index.shape;
  const biases = new Map<number | undefined, FloatValue>();
  let hidden = embedTokens(model, tokens);
  for (let layer = 0; layer <= last; layer++) {
    const window = windowOf(config, layer);
    const attend = (normed: FloatValue) => {
      const inputs = attentionInputs(model, layer, normed, positions);
      return attendInSequences(inputs, layout, config, (queries, keys, values) => {
        const options = { scale: scoreScale(config), cap: config.attn_logit_softcapping };
        if (length === tiledLength) return tiledAttention(queries, keys, values, window, options);
        const bias = biases.get(window) ?? causalBias(tokens.graph, length!, window);
        biases.set(window, bias);
        return causalAttention(queries, keys, values, bias, options);
      });
    };
    const input = hidden;
    const forward = () => decoderLayer(model, layer, input, attend, layer === last ? actions : undefined);
    hidden = layer < recomputed ? checkpoint([input, ...layerParameters(model, layer)], forward) : forward();
  }
  return finalNorm(model, hidden);
}

function layerParameters({ weights, adapter }: DecoderModel, layer: number): FloatValue[] {
  const ofLayer = ([name]: [string, unknown]) => name.startsWith(`model.layers.${layer}.`);
  const pairs = [...(adapter?.pairs ?? [])].filter(ofLayer).flatMap(([, { a, b }]) => [a, b]);
  return [...[...weights].filter(ofLayer).map(([, weight]) => weight), ...pairs];
}

function attendInSequences(
  { queries, keys, values }: AttentionInputs,
  layout: PaddedLayout,
  config: ModelConfig,
  attention: (queries: FloatValue, keys: FloatValue, values: FloatValue) => FloatValue,
): FloatValue {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const [batch, length] = layout.index.shape;
  const byHead = (x: FloatValue, count: number) =>
    transpose(reshape(padRows(x, layout), [batch!, length!, count, size]), [0, 2, 1, 3]);
  const grouped = [batch!, groups, product([heads / groups, length!]), size];
  const attended = attention(
    reshape(byHead(queries, heads), grouped),
    byHead(keys, groups),
    byHead(values, groups),
  );
  const merged = transpose(reshape(attended, [batch!, heads, length!, size]), [0, 2, 1, 3]);
  return unpadRows(reshape(merged, [product([batch!, length!]), heads * size]), layout);
}
