import { product } from "../onnx/dimensions.ts";
import { add } from "../onnx/elementwise.ts";
import { createGraph, type FloatValue, type Graph, type IntValue } from "../onnx/graph.ts";
import { gather } from "../onnx/indexing.ts";
import { matMul } from "../onnx/linear-algebra.ts";
import { softmax } from "../onnx/reductions.ts";
import { concat, reshape, transpose } from "../onnx/shaping.ts";
import {
  type AttentionInputs,
  decoderLayer,
  embedTokens,
  finalNorm,
  languageModelHead,
} from "./decoder-blocks.ts";
import type { ModelConfig } from "./model-config.ts";
import { rotaryTables } from "./rotary-tables.ts";
import type { Tensor } from "./safetensors.ts";

/**
 * The decoding graph, with the weights as its constants. Inputs: tokens and positions [batch, length]; last
 * [batch], the number in [batch · length] of each row's last token; pastKeys and pastValues of each layer
 * [batch, kv heads, past, head size]; pastMask [batch, 1, 1, past] and newMask [length, length], added to the
 * scores. Outputs: logits [batch, vocabulary], and keys and values of each layer for the new tokens alone.
 */
export function cachedDecoderGraph(config: ModelConfig, weights: ReadonlyMap<string, Tensor>): Graph {
  const graph = createGraph();
  const model = {
    config,
    weights: new Map([...weights].map(([name, { data, shape }]) => [name, graph.floats(data, shape)])),
    tables: rotaryTables(graph, config),
  };
  const tokens = graph.input("tokens", "int64", ["batch", "length"]);
  const positions = graph.input("positions", "int64", ["batch", "length"]);
  const last = graph.input("last", "int64", ["batch"]);
  const masks = {
    past: graph.input("pastMask", "float32", ["batch", 1, 1, "past"]),
    fresh: graph.input("newMask", "float32", ["length", "length"]),
  };
  const flat = [product(["batch", "length"])];
  let hidden = embedTokens(model, reshape(tokens, flat));
  const places = reshape(positions, flat);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    hidden = decoderLayer(model, layer, hidden, places, (rows) => {
      const inputs = byHead(rows, config);
      graph.output(`keys${layer}`, inputs.keys);
      graph.output(`values${layer}`, inputs.values);
      const shape = ["batch", config.num_key_value_heads, "past", config.head_dim];
      const past = {
        keys: graph.input(`pastKeys${layer}`, "float32", shape),
        values: graph.input(`pastValues${layer}`, "float32", shape),
      };
      return attendToBoth(inputs, past, masks, config);
    });
  }
  graph.output("logits", languageModelHead(model, finalNorm(model, gather(hidden, last))));
  return graph;
}

/** Queries [batch, kv heads, group · length, head size]; keys and values [batch, kv heads, length, head size]. */
function byHead({ queries, keys, values }: AttentionInputs, config: ModelConfig): AttentionInputs {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const split = (x: FloatValue, count: number) =>
    transpose(reshape(x, ["batch", "length", count, size]), [0, 2, 1, 3]);
  return {
    queries: reshape(split(queries, heads), ["batch", groups, product([heads / groups, "length"]), size]),
    keys: split(keys, groups),
    values: split(values, groups),
  };
}

/** Attention to past and new positions, joined only where it is small: in the scores, never in keys or values. */
function attendToBoth(
  { queries, keys, values }: AttentionInputs,
  past: { keys: FloatValue; values: FloatValue },
  masks: { past: FloatValue; fresh: FloatValue },
  config: ModelConfig,
): FloatValue {
  const { graph } = queries;
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const scores = (to: FloatValue, mask: FloatValue, count: string) => {
    const products = matMul(queries, to, { transposeB: true, alpha: size ** -0.5 });
    return add(reshape(products, ["batch", heads, "length", count]), mask);
  };
  const joined = [scores(past.keys, masks.past, "past"), scores(keys, masks.fresh, "length")] as const;
  const all = softmax(concat(joined, -1, "total"));
  const weigh = (from: IntValue, to: IntValue, what: FloatValue, count: string) => {
    const shape = ["batch", heads, "length", count];
    const part = graph.emit("Slice", [all, from, to, graph.ints([3])], { dtype: "float32", shape });
    return matMul(reshape(part, ["batch", groups, product([heads / groups, "length"]), count]), what);
  };
  const middle = graph.emit("Shape", [past.keys], { dtype: "int64", shape: [1] }, { start: 2, end: 3 });
  const end = graph.ints([Number.MAX_SAFE_INTEGER]);
  const both = add(weigh(graph.ints([0]), middle, past.values, "past"), weigh(middle, end, values, "length"));
  const merged = transpose(reshape(both, ["batch", heads, "length", size]), [0, 2, 1, 3]);
  return reshape(merged, [product(["batch", "length"]), heads * size]);
}
