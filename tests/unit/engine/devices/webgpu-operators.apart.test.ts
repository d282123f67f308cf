import { expect, test } from "vitest";
import { useSwiftShader } from "../../../../src/engine/devices/swiftshader.ts";
import { causalAttention, causalBias } from "../../../../src/engine/onnx/causal-attention.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import * as elementwise from "../../../../src/engine/onnx/elementwise.ts";
import { geGlu, geGluTanh, swiGlu } from "../../../../src/engine/onnx/gated-units.ts";
import { createGraph, type FloatValue, type Graph } from "../../../../src/engine/onnx/graph.ts";
import { gather, gatherElements, scatterAdd } from "../../../../src/engine/onnx/indexing.ts";
import { gemm, matMul } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import type { Tensor } from "../../../../src/engine/onnx/model-session.ts";
import { profilePass } from "../../../../src/engine/onnx/profile-pass.ts";
import { logSoftmax, reduceMean, reduceSum, softmax } from "../../../../src/engine/onnx/reductions.ts";
import { rmsNorm } from "../../../../src/engine/onnx/rms-norm.ts";
import { rotaryEmbedding } from "../../../../src/engine/onnx/rotary-embedding.ts";
import {
  concat,
  expand,
  lowerTriangle,
  reshape,
  transpose,
  upperTriangle,
} from "../../../../src/engine/onnx/shaping.ts";
import { relativeError } from "../../torch-fixtures.ts";

/** Numbers in (−2, 2) that look random, the same at each call. */
function numbers(count: number, seed: number): Float32Array {
  return Float32Array.from(
    { length: count },
    (_, at) => 4 * ((Math.sin(at * 78.233 + seed * 12.99) * 43758.5) % 0.5),
  );
}

const shapes = {
  x: [6, 8],
  y: [6, 8],
  w: [5, 8],
  square: [2, 3, 4, 4],
  scale: [8],
  queries: [2, 2, 8, 4],
  keys: [2, 2, 4, 4],
  rows: [6, 1, 8],
  tables: [16, 4],
};
/** The inputs of the graph, and int64 ones beside them. */
function declareInputs(graph: Graph) {
  const float = (name: keyof typeof shapes) => graph.input(name, "float32", shapes[name]);
  return {
    x: float("x"),
    y: float("y"),
    w: float("w"),
    square: float("square"),
    scale: float("scale"),
    queries: float("queries"),
    keys: float("keys"),
    rows: float("rows"),
    tables: float("tables"),
    ids: graph.input("ids", "int64", ["count"]),
    columns: graph.input("columns", "int64", [6, 1]),
    positions: graph.input("positions", "int64", [6, 1]),
  };
}

/** Every operator that models and losses are made of, by name. */
function results(graph: Graph): Record<string, FloatValue> {
  const { x, y, w, square, scale, queries, keys, rows, tables, ids, columns, positions } =
    declareInputs(graph);
  const positive = elementwise.add(elementwise.exp(x), 0.1);
  return {
    exp: elementwise.exp(x),
    negate: elementwise.negate(x),
    sigmoid: elementwise.sigmoid(x),
    tanh: elementwise.tanh(x),
    erf: elementwise.erf(x),
    softplus: elementwise.softplus(x),
    log: elementwise.log(positive),
    sqrt: elementwise.sqrt(positive),
    add: elementwise.add(x, scale),
    sub: elementwise.sub(x, y),
    mul: elementwise.mul(x, scale),
    div: elementwise.div(x, positive),
    minimum: elementwise.minimum(x, y),
    maximum: elementwise.maximum(x, y),
    clip: elementwise.clip(x, -0.5, 0.5),
    where: elementwise.where(elementwise.less(x, y), x, 0),
    lessOrEqual: elementwise.toFloat(elementwise.lessOrEqual(x, y)),
    reduceSum: reduceSum(square, [1, 3]),
    reduceMean: reduceMean(x, [-1], true),
    softmax: softmax(square),
    logSoftmax: logSoftmax(x),
    gemm: gemm(x, w, { transposeB: true, alpha: 0.5 }),
    gemmOfTransposed: gemm(x, y, { transposeA: true }),
    matMul: matMul(square, square, { transposeB: true, alpha: 0.25 }),
    matMulOfTransposed: matMul(square, square, { transposeA: true }),
    matMulBroadcast: matMul(reshape(x, [2, 3, 8]), transpose(w, [1, 0])),
    transpose: transpose(square, [0, 2, 1, 3]),
    expand: expand(scale, [6, 8]),
    concat: concat([x, y], 1),
    upperTriangle: upperTriangle(square, 1),
    lowerTriangle: lowerTriangle(square, -1),
    gather: gather(x, ids),
    gatherElements: gatherElements(x, columns),
    scatterAdd: scatterAdd(
      x,
      expand(reshape(ids, ["count", 1]), ["count", 8]),
      expand(scale, ["count", 8]),
      0,
    ),
    scatterColumns: scatterAdd(x, columns, reshape(reduceSum(y, [-1]), [6, 1]), -1),
    rmsNorm: rmsNorm(x, scale, 1e-5),
    rotaryEmbedding: rotaryEmbedding(rows, positions, { cosines: tables, sines: elementwise.negate(tables) }),
    causalAttention: causalAttention(queries, keys, keys, causalBias(graph, 4, 3)),
    swiGlu: swiGlu(x, y),
    geGlu: geGlu(x, y),
    geGluTanh: geGluTanh(x, y),
  };
}

const int = (data: number[], shape: number[]): Tensor => ({ shape, data: BigInt64Array.from(data, BigInt) });

function model(device: "cpu" | "webgpu") {
  const graph = createGraph();
  const outputs = results(graph);
  for (const [name, value] of Object.entries(outputs)) graph.output(name, value);
  return { bytes: modelBytes(graph, { device }), names: Object.keys(outputs) };
}

test("each operator gives on WebGPU what it gives on the CPU, and runs there", async () => {
  await useSwiftShader();
  const floats = Object.entries(shapes).map(([name, shape], seed): [string, Tensor] => {
    const size = shape.reduce((total, dimension) => total * dimension, 1);
    return [name, { shape, data: numbers(size, seed) }];
  });
  const feeds: Record<string, Tensor> = {
    ...Object.fromEntries(floats),
    ids: int([3, 0, 3, 5, 3], [5]),
    columns: int([1, 7, 0, 1, 4, 4], [6, 1]),
    positions: int([0, 3, 1, 15, 2, 8], [6, 1]),
  };
  const processor = await createModelSession(model("cpu").bytes, { device: "cpu" });
  const expected = await processor.run(feeds);
  const { nodes, floats: actual } = await profilePass(model("webgpu").bytes, feeds, "webgpu");
  const errors = model("cpu").names.map((name) => [
    name,
    relativeError(actual.get(name)!, expected.floats(name)),
  ]);
  expect(errors.filter(([, error]) => !(Number(error) < 1e-5))).toEqual([]);

  const elsewhere = nodes.filter(({ provider }) => provider === "CPUExecutionProvider").map(({ op }) => op);
  // Shapes and indices are made on the CPU; numbers never are.
  expect([...new Set(elsewhere)].sort()).toEqual(["Cast", "Concat", "Reshape", "Shape"]);
  expect(nodes.filter(({ op }) => op === "MemcpyToHost")).toEqual([]);
});
