import type { HalfType } from "../../../onnx/card-memory.ts";
import { product } from "../../../onnx/dimensions.ts";
import { elementTypes } from "../../../onnx/element-types.ts";
import { toFloat } from "../../../onnx/elementwise.ts";
import { createGraph, type FloatValue, type Graph, type IntValue, type Value } from "../../../onnx/graph.ts";
import { groupQueryAttention } from "../../../onnx/group-query-attention.ts";
import { gather } from "../../../onnx/indexing.ts";
import { type RotaryTables, rotaryEmbedding } from "../../../onnx/rotary-embedding.ts";
import { concat, reshape } from "../../../onnx/shaping.ts";
import { families } from "../../config/families.ts";
import { type ModelConfig, rotatedSize, scoreScale, windowOf } from "../../config/model-config.ts";
import { attentionRows } from "../../graph/attention-rows.ts";
import { attentionModules, type DecoderModel, embedTokens, joinedName } from "../../graph/decoder-blocks.ts";
import { cardNextTokenOutputs } from "../../graph/next-token.ts";
import { type AdapterShape, type DecodedWeights, decodedLogits, decodingModel } from "../decoding-model.ts";

/**
 * Builds the decoding graph for an NVIDIA card, with half-precision keys and values that stay in its memory. Inputs are
 * those of `inPlaceDecoderGraph`, except: last [batch] is the index of each row's last token among all; positions
 * [batch, length] of the new tokens, if only a part of each head is rotated; inverseTemperatures of
 * `cardNextTokenOutputs`. Outputs: those of `cardNextTokenOutputs`, and newKeys and newValues of each layer.
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
  const model = withJoinedQueries(decodingModel(graph, config, weights, adapter));
  const tokens = graph.input("tokens", "int32", ["batch", "length"]);
  const positions = graph.input("positions", "int64", ["batch", "length"]);
  const last = graph.input("last", "int64", ["batch"]);
  const lastPositions = graph.input("lastPositions", "int32", ["batch"]);
  const total = graph.input("total", "int32", [1]);
  const rows = product(["batch", "length"]);

  const headParts = headPartsOf(model, positions, keyValues);
  const embedded = embedTokens(model, reshape(tokens, [rows]));
  const attend = (layer: number, normed: FloatValue) => {
    const shape = ["batch", groups, "capacity", size];
    const keys = graph.input(`keys${layer}`, keyValues, shape);
    const values = graph.input(`values${layer}`, keyValues, shape);
    const { parts, tables } = headParts(layer, normed);
    const window = windowOf(config, layer);
    const remembered = { keys, values, lastPositions, total };
    const options = { ...remembered, heads, groups, tables, scale: scoreScale(config), cap, window };
    const { attended, ...fresh } = groupQueryAttention(parts, options);
    graph.output(`newKeys${layer}`, fresh.keys);
    graph.output(`newValues${layer}`, fresh.values);
    return reshape(toFloat(attended), [rows, heads * size]);
  };
  const logits = decodedLogits(model, embedded, attend, (all) => gather(all, last));
  cardNextTokenOutputs(logits, config.vocab_size);
  return graph;
}

/** The inputs of the attention operator, with the rotation tables if it rotates queries and keys. */
interface HeadParts {
  readonly parts: readonly [Value<HalfType>, Value<HalfType>?, Value<HalfType>?];
  readonly tables?: Record<keyof RotaryTables, Value<HalfType>> | undefined;
}

/**
 * Returns attention's inputs for normed rows in half precision: queries, keys and values [batch, length, heads · head
 * size], separate or joined. The operator rotates whole heads. If only a part of each head is rotated, that happens
 * before, in float32.
 */
function headPartsOf(model: DecoderModel, positions: IntValue, type: HalfType) {
  const { config } = model;
  const { head_dim: size } = config;
  const isWhole = rotatedSize(config) === size;
  const rounded = (x: FloatValue) =>
    x.graph.emit("Cast", [x], { dtype: type, shape: x.shape }, { to: elementTypes[type] });
  const known = new Map<RotaryTables, HeadParts["tables"]>();
  const tablesOf = (tables: RotaryTables) => {
    const halves = known.get(tables) ?? { cosines: rounded(tables.cosines), sines: rounded(tables.sines) };
    known.set(tables, halves);
    return halves;
  };

  return (layer: number, normed: FloatValue): HeadParts => {
    const tables = model.tables(layer);
    const [first, k, v] = attentionRows(model, layer, normed);
    const halves = tables && isWhole ? { tables: tablesOf(tables) } : {};
    if (!k || !v) return { parts: [rounded(first)], ...halves };
    const rotated = (x: FloatValue) => (tables && !isWhole ? rotaryEmbedding(x, positions, tables, size) : x);
    return { parts: [rounded(rotated(first)), rounded(rotated(k)), rounded(v)], ...halves };
  };
}

/**
 * Returns a model with the weights of queries, keys and values joined, so that they need one product whose result the
 * operator accepts directly. Not possible if heads are normed or partly rotated first, or if an adapter adds to them.
 */
function withJoinedQueries(model: DecoderModel): DecoderModel {
  const { config, frozen, adapter } = model;
  const { queryKeyNorm, fused } = families[config.model_type];
  if (queryKeyNorm !== "none" || fused || adapter || frozen?.size || rotatedSize(config) !== config.head_dim)
    return model;
  const weights = new Map(model.weights);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const parent = `model.layers.${layer}.self_attn`;
    const all = (kind: string) =>
      attentionModules.flatMap((module) => weights.get(`${parent}.${module}.${kind}`) ?? []);
    const kinds = { weight: all("weight"), bias: all("bias") };
    // Layers in which only some of the three have biases stay separate.
    if (![0, attentionModules.length].includes(kinds.bias.length)) continue;
    for (const [kind, [first, ...others]] of Object.entries(kinds)) {
      if (first)
        weights.set(`${parent}.${joinedName(attentionModules)}.${kind}`, concat([first, ...others], 0));
    }
  }
  return { ...model, weights };
}
