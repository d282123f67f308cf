import { product } from "../../../onnx/dimensions.ts";
import { createGraph, type FloatValue, type Graph } from "../../../onnx/graph.ts";
import { groupQueryAttention, scoreFactor } from "../../../onnx/group-query-attention.ts";
import { gatherRow } from "../../../onnx/indexing.ts";
import { reshape } from "../../../onnx/shaping.ts";
import { type ModelConfig, rotatedSize, scoreScale, windowOf } from "../../config/model-config.ts";
import { attentionRows } from "../../graph/attention-rows.ts";
import { choiceTold } from "../../graph/expert-choice.ts";
import { embedTokensAndImages } from "../../graph/image-embeddings.ts";
import { boundNextTokenOutputs } from "../../graph/next-token.ts";
import { rotaryTables } from "../../graph/rotary-tables.ts";
import { type AdapterShape, type DecodedWeights, decodedLogits, decodingModel } from "../decoding-model.ts";
import type { KeyValueType } from "../key-values.ts";

/**
 * Builds the decoding graph for keys and values that stay in place.
 * - Inputs: tokens [batch, length]; last [batch, 1], the index of each row's last token; lastPositions [batch] and
 *   total [1] of `groupQueryAttention`; keys and values of each layer [batch, kv heads, capacity, head size], if int8
 *   with keyScales and valueScales [kv heads, head size]; an adapter's matrices by name.
 * - Outputs: newKeys and newValues of each layer, to be bound to the memory of keys and values; those of `outputs`, by
 *   default `boundNextTokenOutputs`; routing ties [batch · length, 1], for the last layer [batch, 1].
 */
export function inPlaceDecoderGraph(
  config: ModelConfig,
  weights: DecodedWeights,
  adapter?: AdapterShape,
  keyValues: KeyValueType = "float32",
  outputs: (logits: FloatValue) => void = boundNextTokenOutputs,
): Graph {
  const graph = createGraph();
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const { attn_logit_softcapping: cap } = config;
  const isWhole = rotatedSize(config) === size;
  const rotations = rotaryTables(graph, config, isWhole ? scoreFactor(scoreScale(config)) : 1);
  const model = { ...decodingModel(graph, config, weights, adapter, rotations), choose: choiceTold(config) };
  const tokens = graph.input("tokens", "int32", ["batch", "length"]);
  const last = graph.input("last", "int64", ["batch", 1]);
  const lastPositions = graph.input("lastPositions", "int32", ["batch"]);
  const total = graph.input("total", "int32", [1]);
  const rows = product(["batch", "length"]);
  // Products with three axes save two reshapes per layer. Adapters' products have two.
  const embedded = embedTokensAndImages(model, adapter ? reshape(tokens, [rows]) : tokens);
  const attend = (layer: number, normed: FloatValue) => {
    const shape = ["batch", groups, "capacity", size];
    const keys = graph.input(`keys${layer}`, keyValues, shape);
    const values = graph.input(`values${layer}`, keyValues, shape);
    const scaleOf = (name: string) => graph.input(`${name}${layer}`, "float32", [groups, size]);
    const scales =
      keyValues === "int8" ? ([scaleOf("keyScales"), scaleOf("valueScales")] as const) : undefined;
    const inputs = attentionRows(model, layer, normed);
    const window = windowOf(config, layer);
    const tables = rotations(layer);
    const scale = tables && isWhole ? 1 : scoreScale(config);
    const remembered = { keys, values, scales, lastPositions, total };
    const options = { ...remembered, heads, groups, tables, scale, cap, window };
    const { attended, ...fresh } = groupQueryAttention(inputs, options);
    graph.output(`newKeys${layer}`, fresh.keys);
    graph.output(`newValues${layer}`, fresh.values);
    return reshape(attended, [...normed.shape.slice(0, -1), heads * size]);
  };
  const lastRows = (all: FloatValue) => gatherRow(reshape(all, ["batch", "length", all.shape.at(-1)!]), last);
  outputs(decodedLogits(model, embedded, attend, lastRows));
  return graph;
}
