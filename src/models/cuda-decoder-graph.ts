import type { HalfType } from "../onnx/cuda-memory.ts";
import { product } from "../onnx/dimensions.ts";
import { elementTypes } from "../onnx/element-types.ts";
import { createGraph, type FloatValue, type Graph, type IntValue, type Value } from "../onnx/graph.ts";
import { groupQueryAttention } from "../onnx/group-query-attention.ts";
import { gather } from "../onnx/indexing.ts";
import { rotaryEmbedding } from "../onnx/rotary-embedding.ts";
import { columns, reshape } from "../onnx/shaping.ts";
import { type AdapterShape, type DecodedWeights, decodingModel } from "./cached-decoder-graph.ts";
import {
  type DecoderModel,
  embedTokens,
  finalNorm,
  joinedProjection,
  languageModelHead,
  norm,
  projections,
} from "./decoder-blocks.ts";
import { decoderLayer } from "./decoder-layer.ts";
import { families } from "./families.ts";
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
      const exact = { dtype: "float32", shape: attended.shape } as const;
      return reshape(graph.emit("Cast", [attended], exact, { to: elementTypes.float32 }), [
        rows,
        heads * size,
      ]);
    });
  }
  cardNextTokenOutputs(languageModelHead(model, gather(finalNorm(model, hidden), last)), config.vocab_size);
  return graph;
}

const modules = ["q_proj", "k_proj", "v_proj"];

/** What attention works on, as the operator takes it. */
type HeadParts = readonly [Value<HalfType>, Value<HalfType>, Value<HalfType>];

/**
 * What attention works on, from normed rows: queries, keys and values [batch, length, heads · head size],
 * rotated in float32 and then rounded.
 */
function headParts(model: DecoderModel, positions: IntValue, type: HalfType) {
  const {
    num_attention_heads: heads,
    num_key_value_heads: groups,
    head_dim: size,
    model_type,
  } = model.config;
  const { queryKeyNorm } = families[model_type];
  const bySequence = (x: FloatValue) => reshape(x, ["batch", "length", x.shape.at(-1)!]);
  const rounded = (x: FloatValue) =>
    x.graph.emit("Cast", [x], { dtype: type, shape: x.shape }, { to: elementTypes[type] });
  const rotated = (x: FloatValue, layer: number) => {
    const tables = model.tables(layer);
    return tables ? rotaryEmbedding(bySequence(x), positions, tables, size) : bySequence(x);
  };

  return (layer: number, normed: FloatValue): HeadParts => {
    const parent = `model.layers.${layer}.self_attn`;
    const together =
      queryKeyNorm || model.adapter ? undefined : joinedProjection(model, normed, parent, modules);
    if (together) {
      const turning = (heads + groups) * size;
      const turned = rotated(columns(together, 0, turning), layer);
      const values = columns(together, turning, turning + groups * size);
      const queries = columns(turned, 0, heads * size);
      return [rounded(queries), rounded(columns(turned, heads * size, turning)), rounded(bySequence(values))];
    }
    const [q, k, v] = projections(model, normed, parent, modules);
    const prepared = (x: FloatValue, name: string) => {
      if (!queryKeyNorm) return rounded(rotated(x, layer));
      const width = Number(x.shape.at(-1));
      const apart = reshape(x, ["batch", "length", width / size, size]);
      const normedHeads = norm(model, apart, `${parent}.${name}`);
      return rounded(rotated(reshape(normedHeads, ["batch", "length", width]), layer));
    };
    return [prepared(q!, "q_norm"), prepared(k!, "k_norm"), rounded(bySequence(v!))];
  };
}
