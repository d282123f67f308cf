import { expect, test } from "vitest";
import { checkpoint } from "../../../../src/engine/onnx/checkpoint.ts";
import { add, exp, sigmoid } from "../../../../src/engine/onnx/elementwise.ts";
import { swiGlu } from "../../../../src/engine/onnx/gated-units.ts";
import { gradients } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph, type FloatValue } from "../../../../src/engine/onnx/graph.ts";
import { linear } from "../../../../src/engine/onnx/linear-algebra.ts";
import { peakBytes } from "../../../../src/engine/onnx/peak-memory.ts";
import { reduceSum } from "../../../../src/engine/onnx/reductions.ts";
import { rmsNorm } from "../../../../src/engine/onnx/rms-norm.ts";
import { rowsWhere, takeRows } from "../../../../src/engine/onnx/row-subsets.ts";

test("what is held at once: a value until its last use, outputs to the end, results over operands where allowed", () => {
  const graph = createGraph();
  const x = graph.input("x", "float32", ["rows", 8]);
  const weight = graph.input("weight", "float32", [16, 8]);
  const wide = linear(x, weight); // 64 bytes a row
  const activated = sigmoid(exp(wide)); // in place
  graph.output("y", reduceSum(activated, [1])); // 4 bytes a row
  expect(peakBytes(graph, { rows: 10 })).toBe(680);
  graph.output("wide", wide);
  expect(peakBytes(graph, { rows: 10 })).toBe(1320);
  expect(() => peakBytes(graph, {})).toThrow('the dimension "rows" was given no size');
});

test("outputs of the graph have memory of their own, though operators could write over an operand", () => {
  const graph = createGraph();
  const doubled = exp(sigmoid(graph.input("x", "float32", ["rows", 8])));
  graph.output("y", doubled);
  expect(peakBytes(graph, { rows: 10 })).toBe(2 * 320);
});

test("checkpoints keep their inputs alone", () => {
  const peak = (kept: boolean) => {
    const graph = createGraph();
    const weights = Array.from({ length: 8 }, (_, at) => graph.input(`w${at}`, "float32", [16, 16]));
    const layer = (input: FloatValue, weight: FloatValue) =>
      exp(sigmoid(exp(sigmoid(linear(input, weight)))));
    let x = graph.input("x", "float32", ["rows", 16]);
    for (const weight of weights) {
      const input = x;
      x = kept ? layer(input, weight) : checkpoint([input, weight], () => layer(input, weight));
    }
    gradients(reduceSum(x), weights).forEach((gradient, at) => {
      graph.output(`dw${at}`, gradient);
    });
    return peakBytes(graph, { rows: 1000 });
  };
  expect(peak(false)).toBeLessThan(peak(true) / 2);
});

test("norms and gated units are made again: of a layer its input, gate and up are kept", () => {
  const peak = (layers: number) => {
    const graph = createGraph();
    const weights = Array.from({ length: layers }, (_, at) => ({
      norm: graph.input(`norm${at}`, "float32", [16]),
      gate: graph.input(`gate${at}`, "float32", [48, 16]),
      up: graph.input(`up${at}`, "float32", [48, 16]),
      down: graph.input(`down${at}`, "float32", [16, 48]),
    }));
    let x = graph.input("x", "float32", ["rows", 16]);
    for (const { norm, gate, up, down } of weights) {
      const normed = rmsNorm(x, norm, 1e-5, true);
      x = add(x, linear(swiGlu(linear(normed, gate), linear(normed, up)), down));
    }
    gradients(reduceSum(x), weights.flatMap(Object.values<FloatValue>)).forEach((gradient, at) => {
      graph.output(`dw${at}`, gradient);
    });
    return peakBytes(graph, { rows: 1000 });
  };
  // And the norm's inverse root, of each row.
  expect(peak(20) - peak(10)).toBe(10 * 1000 * 4 * (16 + 48 + 48 + 1));
});

test("a size that only a pass knows is taken as the share that it was said to be", () => {
  const graph = createGraph();
  const x = graph.input("x", "float32", ["rows", 8]);
  const chosen = graph.input("chosen", "bool", ["rows"]);
  const some = takeRows(x, rowsWhere(chosen, graph.share("some", "2*rows", 0.25)));
  graph.output("some", some);
  // Numbers of 50 rows in int64, and their 8 floats each.
  expect(peakBytes(graph, { rows: 100 })).toBe(50 * 8 + 50 * 8 * 4);
});
