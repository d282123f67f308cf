import { expect, test } from "vitest";
import { causalAttention, causalBias } from "../../../../src/engine/onnx/causal-attention.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { mul } from "../../../../src/engine/onnx/elementwise.ts";
import { gradients } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph, type FloatValue } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { reduceSum } from "../../../../src/engine/onnx/reductions.ts";
import { sequenceAttention, sequenceLengths } from "../../../../src/engine/onnx/sequence-attention.ts";
import { reshape, transpose } from "../../../../src/engine/onnx/shaping.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { noise } from "./finite-differences.ts";

const [batch, heads, groups, size, scale] = [2, 6, 2, 8, 0.3];

/** Outputs and gradients of attention, written in one of two ways. */
async function attended(way: "operator" | "products", length: number, window?: number) {
  const graph = createGraph();
  const input = (name: string, count: number) => graph.input(name, "float32", [batch, length, count * size]);
  const own = [input("queries", heads), input("keys", groups), input("values", groups)] as const;
  const byHead = (x: FloatValue, count: number) =>
    transpose(reshape(x, [batch, length, count, size]), [0, 2, 1, 3]);
  const operator = () =>
    sequenceAttention(own, sequenceLengths(graph, batch, length), { heads, groups, scale, window });
  const products = () => {
    const [queries, keys, values] = own;
    const grouped = reshape(byHead(queries, heads), [batch, groups, (heads / groups) * length, size]);
    const bias = causalBias(graph, length, window);
    const found = causalAttention(grouped, byHead(keys, groups), byHead(values, groups), bias, { scale });
    const apart = transpose(reshape(found, [batch, heads, length, size]), [0, 2, 1, 3]);
    return reshape(apart, [batch, length, heads * size]);
  };
  const output = way === "operator" ? operator() : products();
  graph.output("output", output);
  const loss = reduceSum(mul(output, input("weights", heads)));
  gradients(loss, own).forEach((gradient, at) => {
    graph.output(["dQueries", "dKeys", "dValues"][at]!, gradient);
  });
  const of = (count: number, seed: number) => ({
    shape: [batch, length, count * size],
    data: noise(batch * length * count * size, seed).map((value) => 2 * value),
  });
  const session = await createModelSession(modelBytes(graph));
  const feeds = { queries: of(heads, 1), keys: of(groups, 2), values: of(groups, 3), weights: of(heads, 4) };
  const outputs = await session.run(feeds);
  const found = [...graph.outputs.keys()].map((name) => outputs.floats(name).slice());
  await session.close();
  return found;
}

test.each<[string, number, number | undefined]>([
  ["the whole past", 70, undefined],
  ["a window", 70, 20],
  ["a window longer than sequences", 70, 100],
  ["a token each", 1, undefined],
])(
  "the runtime's operator gives outputs and gradients of attention written out: %s",
  async (_, length, window) => {
    const [operator, products] = [
      await attended("operator", length, window),
      await attended("products", length, window),
    ];
    operator.forEach((numbers, at) => {
      // A token that sees itself alone has queries and keys without a gradient.
      const zero = length === 1 && (at === 1 || at === 2);
      if (zero) expect(Math.max(...numbers.map(Math.abs))).toBeLessThan(1e-6);
      else expect(relativeError(numbers, products[at]!)).toBeLessThan(2e-6);
    });
  },
);
