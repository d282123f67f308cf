import type { HalfType } from "../onnx/card-memory.ts";
import { product } from "../onnx/dimensions.ts";
import { elementTypes } from "../onnx/element-types.ts";
import { toFloat } from "../onnx/elementwise.ts";
import { createGraph, type FloatValue, type Graph, type IntValue, type Value } from "../onnx/graph.ts";
import { groupQueryAttention } from "../onnx/group-query-attention.ts";
import { gather } from "../onnx/indexing.ts";
import { rotaryEmbedding } from "../onnx/rotary-embedding.ts";
import { columns, reshape } from "../onnx/shaping.ts";
import { attentionRows } from "./attention-rows.ts";
import { type DecoderModel, embedTokens, finalNorm, languageModelHead } from "./decoder-blocks.ts";
import { decoderLayer } from "./decoder-layer.ts";
import { type AdapterShape, type DecodedWeights, decodingModel } from "./decoding-model.ts";
import { type ModelConfig, scoreScale, windowOf } from "./model-config.ts";
import { cardNextTokenOutputs } from "./next-token.ts";

/**
 * The decoding graph for an NVIDIA card, with keys and values of half precision that stay in its memory. Inputs are
 * those of `inPlaceDecoderGraph`, but for last, the number of each row's last token among all [batch]; for positions
 * [batch, length] of the new tokens, as they are rotated in float32 before they are rounded; and for inverseTemperatures of
 * `cardNextTokenOutputs`, whose outputs it has beside newKeys and newValues of each layer.
 */
export function cudaDecoderGraph(
  config: ModelConfig,
  weights: DecodedWeights,
  keyValues: HalfType,
  adapter?: AdapterShape,
): Graph {
  const graph = createGraph();
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const { attn_logit_softcapping: cap } = config;
  const model = decodingModel(graph, config, weights, adapter);
  const tokens = graph.input("tokens", "int32", ["batch", "length"]);
  const positions = graph.input("positions", "int64", ["batch", "length"]);
  const last = graph.input("last", "int64", ["batch"]);
  const lastPositions = graph.input("lastPositions", "int32", ["batch"]);
  const total = graph.input("total", "int32", [1]);
  const rows = product(["batch", "length"]);

  const parts = headParts(model, positions, keyValues);
  let hidden = embedTokens(model, reshape(tokens, [rows]));
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    hidden = decoderLayer(model, layer, hidden, (normed) => {
      const shape = ["batch", groups, "capacity", size];
      const keys = graph.input(`keys${layer}`, keyValues, shape);
      const values = graph.input(`values${layer}`, keyValues, shape);
      const options = { keys, values, lastPositions, total, heads, groups, scale: scoreScale(config), cap };
      const window = windowOf(config, layer);
      const { attended, ...fresh } = groupQueryAttention(parts(layer, normed), { ...options, window });
      graph.output(`newKeys${layer}`, fresh.keys);
      graph.output(`newValues${layer}`, fresh.values);
      return reshape(toFloat(attended), [rows, heads * size]);
    });
  }
  cardNextTokenOutputs(languageModelHead(model, gather(finalNorm(model, hidden), last)), config.vocab_size);
  return graph;
}

/** What attention works on, as the operator takes it. */
type HeadParts = readonly [Value<HalfType>, Value<HalfType>, Value<HalfType>];

/**
 * What attention works on, from normed rows: queries, keys and values [batch, length, heads · head size],
 * rotated in float32 and then rounded.
 */
function headParts(model: DecoderModel, positions: IntValue, type: HalfType) {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = model.config;
  const [queryWidth, width] = [heads * size, groups * size];
  const rounded = (x: FloatValue) =>
    x.graph.emit("Cast", [x], { dtype: type, shape: x.shape }, { to: elementTypes[type] });

  return (layer: number, normed: FloatValue): HeadParts => {
    const tables = model.tables(layer);
    const rotated = (x: FloatValue) => (tables ? rotaryEmbedding(x, positions, tables, size) : x);
    const [first, k, v] = attentionRows(model, layer, normed);
    if (k && v) return [rounded(rotated(first)), rounded(rotated(k)), rounded(v)];
    // All beside each other: what is rotated is so at once.
    const turned = rotated(columns(first, 0, queryWidth + width));
    const queries = columns(turned, 0, queryWidth);
    const keys = columns(turned, queryWidth, queryWidth + width);
    const values = columns(first, queryWidth + width, queryWidth + 2 * width);
    return [rounded(queries), rounded(keys), rounded(values)];
  };
}
