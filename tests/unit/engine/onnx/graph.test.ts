import { expect, test } from "vitest";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { add, mul } from "../../../../src/engine/onnx/elementwise.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { gather, scatterAdd } from "../../../../src/engine/onnx/indexing.ts";
import { gemm, matMul } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { concat, expand, reshape, transpose } from "../../../../src/engine/onnx/shaping.ts";
import { noise } from "./finite-differences.ts";

test("a graph with sizes known only at run time computes what it says", async () => {
  const graph = createGraph();
  const x = graph.input("x", "float32", ["batch*length", 4]);
  const tokens = graph.input("tokens", "int64", ["batch", "length"]);
  const embedded = gather(x, tokens);
  graph.output("by head", transpose(reshape(x, ["batch", "length", 2, 2]), [0, 2, 1, 3]));
  graph.output("embedded", add(mul(embedded, 2), 1));
  const session = await createModelSession(modelBytes(graph), { threads: 1 });
  const data = Float32Array.from({ length: 24 }, (_, at) => at);
  const feeds = {
    x: { shape: [6, 4], data },
    tokens: { shape: [2, 3], data: BigInt64Array.of(0n, 1n, 5n, 0n, 0n, 2n) },
  };
  const outputs = await session.run(feeds);
  expect(outputs.tensor("by head").shape).toEqual([2, 2, 3, 2]);
  expect([...outputs.floats("by head").slice(0, 6)]).toEqual([0, 1, 4, 5, 8, 9]);
  expect([...outputs.floats("embedded").slice(8, 12)]).toEqual([41, 43, 45, 47]);
  await session.close();
});

test("shapes that don't fit are refused while the graph is built", () => {
  const graph = createGraph();
  const a = graph.input("a", "float32", ["rows", 3]);
  const b = graph.input("b", "float32", ["columns", 4]);
  expect(() => add(a, b)).toThrow("shapes [rows, 3] and [columns, 4] don't broadcast");
  expect(() => gemm(a, b)).toThrow("matrices [rows, 3] and [columns, 4] don't multiply");
  expect(() => matMul(a, graph.floats([1]))).toThrow("is not a matrix");
  expect(() => reshape(a, ["rows", 4])).toThrow("[rows, 3] can't be reshaped to [rows, 4]");
  expect(() => concat([a, a], 0)).toThrow("name the dimension");
  expect(() => expand(graph.floats([1]), ["nowhere"])).toThrow(
    'the dimension "nowhere" appears in no tensor',
  );
  expect(() => graph.input("a", "float32", [])).toThrow('two inputs named "a"');
  expect(() => add(a, createGraph().input("c", "float32", [3]))).toThrow("belongs to another graph");
  expect(() => modelBytes(graph)).toThrow("the graph has no outputs");
});

test("a pass says which input is missing, unknown or of the wrong size", async () => {
  const graph = createGraph();
  graph.output("y", mul(graph.input("x", "float32", ["rows"]), 2));
  const session = await createModelSession(modelBytes(graph));
  const x = { shape: [2], data: Float32Array.of(1, 2) };
  await expect(session.run({})).rejects.toThrow("the input x was not fed");
  await expect(session.run({ x, z: x })).rejects.toThrow("the model has no input z");
  await expect(session.run({ x: { ...x, shape: [3] } })).rejects.toThrow("was fed 2 numbers");
  await expect(session.run({ x: { shape: [2], data: BigInt64Array.of(1n, 2n) } })).rejects.toMatchObject({
    code: "ONNX_RUN_FAILED",
  });
  expect((await session.run({ x })).floats("y")).toEqual(Float32Array.of(2, 4));
  await session.close();
  await expect(createModelSession(new Uint8Array([1, 2, 3]))).rejects.toMatchObject({
    code: "ONNX_SESSION_FAILED",
  });
});

test("scatterAdd adds repeated indices up, with several threads and many times over", async () => {
  const graph = createGraph();
  const rows = 4096;
  const indices = graph.input("indices", "int64", [rows]);
  const updates = graph.input("updates", "float32", [rows, 16]);
  const zeros = expand(graph.floats([0], [1, 1]), [8, 16]);
  const wide = expand(reshape(indices, [rows, 1]), [rows, 16]);
  graph.output("sums", scatterAdd(zeros, wide, updates, 0));
  const session = await createModelSession(modelBytes(graph), { threads: 4 });
  const data = noise(rows * 16).map((value) => Math.round(value * 64));
  const expected = new Float32Array(8 * 16);
  data.forEach((value, at) => {
    expected[((at >> 4) % 8) * 16 + (at % 16)]! += value;
  });
  const feeds = {
    indices: { shape: [rows], data: BigInt64Array.from({ length: rows }, (_, at) => BigInt(at % 8)) },
    updates: { shape: [rows, 16], data },
  };
  for (let pass = 0; pass < 40; pass++) expect((await session.run(feeds)).floats("sums")).toEqual(expected);
  await session.close();
});
