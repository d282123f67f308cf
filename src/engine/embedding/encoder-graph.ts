import type { Tensor } from "../models/weights/safetensors.ts";
import { add, div, erf, maximum, mul, sqrt, sub } from "../onnx/elementwise.ts";
import { createGraph, type FloatValue, type Graph } from "../onnx/graph.ts";
import { gather } from "../onnx/indexing.ts";
import { linear, matMul } from "../onnx/linear-algebra.ts";
import { reduceSum, softmax } from "../onnx/reductions.ts";
import { reshape, transpose } from "../onnx/shaping.ts";
import type { EncoderConfig } from "./encoder-config.ts";

/**
 * Returns a weight by its name in BERT's checkpoints, without a prefix. Throws if it is missing or has another shape.
 */
export type Weights = (name: string, shape: readonly number[]) => Tensor["data"];

/**
 * Builds BERT (arXiv 1810.04805) as sentence-transformers uses it. Inputs: `ids`, `positions` and `mask`, each [batch,
 * length]. `mask` is 1 for tokens and 0 for padding. Output: `vectors` [batch, hidden size] of length 1.
 */
export function encoderGraph(config: EncoderConfig, weights: Weights, sizes: Sizes): Graph {
  const graph = createGraph();
  const { hiddenSize: hidden, heads, epsilon } = config;
  const weight = (name: string, shape: readonly number[]) => graph.floats(weights(name, shape), shape);
  const ids = graph.input("ids", "int64", ["batch", "length"]);
  const positions = graph.input("positions", "int64", ["batch", "length"]);
  const mask = graph.input("mask", "float32", ["batch", "length"]);

  const dense = (x: FloatValue, name: string, inner: number, outer: number) =>
    linear(x, weight(`${name}.weight`, [outer, inner]), weight(`${name}.bias`, [outer]));
  const normal = (x: FloatValue, name: string) => {
    const inputs = [x, weight(`${name}.weight`, [hidden]), weight(`${name}.bias`, [hidden])];
    const attributes = { axis: -1, epsilon: { float: epsilon } };
    return graph.emit("LayerNormalization", inputs, { dtype: "float32", shape: x.shape }, attributes);
  };
  const embedded = (name: string, rows: number) =>
    weight(`embeddings.${name}_embeddings.weight`, [rows, hidden]);
  const byHead = (x: FloatValue) =>
    transpose(reshape(x, ["batch", "length", heads, hidden / heads]), [0, 2, 1, 3]);

  const words = gather(embedded("word", sizes.vocabulary), ids);
  const places = gather(embedded("position", sizes.positions), positions);
  const types = weights("embeddings.token_type_embeddings.weight", [sizes.types, hidden]);
  let states = add(add(words, places), graph.floats(types.slice(0, hidden), [hidden]));
  states = normal(states, "embeddings.LayerNorm");
  const hiding = reshape(mul(sub(mask, 1), 1e9), ["batch", 1, 1, "length"]);
  for (let layer = 0; layer < config.layers; layer++) {
    const at = `encoder.layer.${layer}`;
    const self = (name: string) => byHead(dense(states, `${at}.attention.self.${name}`, hidden, hidden));
    const scores = matMul(self("query"), self("key"), {
      transposeB: true,
      alpha: 1 / Math.sqrt(hidden / heads),
    });
    const seen = matMul(softmax(add(scores, hiding)), self("value"));
    const joined = reshape(transpose(seen, [0, 2, 1, 3]), ["batch", "length", hidden]);
    const attended = dense(joined, `${at}.attention.output.dense`, hidden, hidden);
    states = normal(add(attended, states), `${at}.attention.output.LayerNorm`);
    const inner = dense(states, `${at}.intermediate.dense`, hidden, sizes.intermediate);
    states = normal(
      add(dense(gelu(inner), `${at}.output.dense`, sizes.intermediate, hidden), states),
      `${at}.output.LayerNorm`,
    );
  }
  const pooled = config.pooling === "cls" ? first(states, hidden) : mean(states, mask);
  const norm = maximum(sqrt(reduceSum(mul(pooled, pooled), [-1], true)), 1e-12);
  graph.output("vectors", div(pooled, norm));
  return graph;
}

/** Sizes that config.json does not define. They come from the shapes of the weights. */
export interface Sizes {
  vocabulary: number;
  positions: number;
  types: number;
  intermediate: number;
}

/** x Φ(x), exactly. */
function gelu(x: FloatValue): FloatValue {
  return mul(mul(x, 0.5), add(erf(div(x, Math.SQRT2)), 1));
}

function mean(x: FloatValue, mask: FloatValue): FloatValue {
  const counted = reshape(mask, ["batch", "length", 1]);
  return div(reduceSum(mul(x, counted), [1]), maximum(reduceSum(counted, [1]), 1e-9));
}

function first(x: FloatValue, hidden: number): FloatValue {
  const output = { dtype: "float32", shape: ["batch", hidden] } as const;
  return x.graph.emit("Gather", [x, x.graph.ints([0], [])], output, { axis: 1 });
}
