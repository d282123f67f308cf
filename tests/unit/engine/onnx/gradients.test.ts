import { expect, test } from "vitest";
import { causalAttention, causalBias } from "../../../../src/engine/onnx/causal-attention.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import {
  add,
  clip,
  div,
  erf,
  exp,
  lessOrEqual,
  log,
  maximum,
  minimum,
  mul,
  negate,
  sigmoid,
  softplus,
  sqrt,
  sub,
  tanh,
  where,
} from "../../../../src/engine/onnx/elementwise.ts";
import { geGlu, geGluTanh, swiGlu } from "../../../../src/engine/onnx/gated-units.ts";
import { gradientRules } from "../../../../src/engine/onnx/gradient-rules.ts";
import { gradients, gradientsWithRows } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph, type FloatValue, type Graph } from "../../../../src/engine/onnx/graph.ts";
import { gather, gatherElements } from "../../../../src/engine/onnx/indexing.ts";
import { gemm, linear, matMul } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { padRows, unpadRows } from "../../../../src/engine/onnx/padding.ts";
import { prefixedAttention, prefixedBias } from "../../../../src/engine/onnx/prefixed-attention.ts";
import { reduceMean, reduceSum, softmax } from "../../../../src/engine/onnx/reductions.ts";
import { rmsNorm } from "../../../../src/engine/onnx/rms-norm.ts";
import { rotaryEmbedding } from "../../../../src/engine/onnx/rotary-embedding.ts";
import { addRows, joinRows, takeRows } from "../../../../src/engine/onnx/row-subsets.ts";
import { sequenceAttention, sequenceLengths } from "../../../../src/engine/onnx/sequence-attention.ts";
import { columns, expand, reshape, transpose, upperTriangle } from "../../../../src/engine/onnx/shaping.ts";
import { tokenDistribution } from "../../../../src/engine/onnx/token-distribution.ts";
import { vocabularyDistribution } from "../../../../src/engine/onnx/vocabulary-distribution.ts";
import { gradientError, type InputShapes, noise } from "./finite-differences.ts";

const bothWanted = { gradients: true, entropies: true };

type Case = [rule: string, shapes: InputShapes, build: (inputs: FloatValue[], graph: Graph) => FloatValue];

const rows = ["rows", 3] as const;
const positive = (x: FloatValue) => add(mul(x, x), 0.5);

/**
 * Three rows as sequences of one, of two and of two, which begins as the second one does: the second place of the first
 * sequence is padding.
 */
const paddedLayout = (graph: Graph) => ({
  index: graph.ints([0, 0, 1, 2, 1, 0], [3, 2]),
  places: graph.ints([0, 2, 3]),
  present: graph.floats([1, 0, 1, 1, 0, 0], [3, 2]),
  shared: graph.ints([1, 0]),
  copies: graph.ints([4, 5, 5, 0], [2, 2]),
  copied: graph.floats([1, 0, 1, 0], [2, 1, 2]),
});
/** 1 at the places of rows. */
const counted = (graph: Graph) => graph.floats([1, 0, 1, 1, 1, 1], [3, 2, 1]);

const cases: Case[] = [
  ["Add", [[2, 3], [3]], ([a, b]) => add(a!, b!)],
  [
    "Sub",
    [
      [rows, 3],
      [1, 3],
    ],
    ([a, b]) => sub(a!, b!),
  ],
  ["Mul", [[rows, 3], [3]], ([a, b]) => mul(a!, b!)],
  ["Mul", [[2, 3]], ([a]) => mul(a!, a!)],
  [
    "Div",
    [
      [2, 3],
      [2, 1],
    ],
    ([a, b]) => div(a!, positive(b!)),
  ],
  [
    "Min",
    [
      [2, 3],
      [2, 3],
    ],
    ([a, b]) => minimum(a!, b!),
  ],
  ["Max", [[2, 3], [3]], ([a, b]) => maximum(a!, b!)],
  ["Neg", [[2, 3]], ([a]) => negate(a!)],
  ["Exp", [[2, 3]], ([a]) => exp(a!)],
  ["Sqrt", [[2, 3]], ([a]) => sqrt(positive(a!))],
  ["Log", [[2, 3]], ([a]) => log(add(mul(a!, a!), 1))],
  ["Softplus", [[2, 3]], ([a]) => softplus(a!)],
  ["Sigmoid", [[2, 3]], ([a]) => sigmoid(a!)],
  ["Clip", [[2, 5]], ([a]) => clip(a!, -0.5, 0.5)],
  [
    "Where",
    [[2, 3], [3]],
    ([a, b], graph) => where(lessOrEqual(graph.floats(noise(6, 5), [2, 3]), graph.floats([0])), a!, b!),
  ],
  ["Reshape", [[rows, 4]], ([a]) => mul(reshape(a!, ["2*rows", 2]), 2)],
  ["Expand", [[2, 1]], ([a]) => expand(a!, [2, 4])],
  ["Transpose", [[2, 3, 4]], ([a]) => transpose(a!, [2, 0, 1])],
  ["ReduceSum", [[2, 3, 4]], ([a]) => reduceSum(a!, [0, -1])],
  ["ReduceSum", [[2, 3, 4]], ([a]) => reduceSum(a!, [1], true)],
  ["ReduceMean", [[rows, 4]], ([a]) => reduceMean(a!, [0])],
  ["ReduceMean", [[rows, 4]], ([a]) => reduceMean(a!)],
  ["Gather", [[4, 3]], ([a], graph) => gather(a!, graph.ints([1, 3, 1, 1, 0, 3], [3, 2]))],
  ["GatherElements", [[2, 4]], ([a], graph) => gatherElements(a!, graph.ints([1, 1, 3, 0], [2, 2]))],
  [
    "Gemm",
    [
      [2, 3],
      [3, 4],
    ],
    ([a, b]) => gemm(a!, b!, { alpha: 0.5 }),
  ],
  [
    "Gemm",
    [
      [rows, 3],
      [4, 3],
    ],
    ([a, b]) => gemm(a!, b!, { transposeB: true }),
  ],
  [
    "Gemm",
    [
      [3, 2],
      [3, 4],
    ],
    ([a, b]) => gemm(a!, b!, { transposeA: true }),
  ],
  [
    "Gemm",
    [
      [3, 2],
      [4, 3],
    ],
    ([a, b]) => gemm(a!, b!, { transposeA: true, transposeB: true }),
  ],
  ["Gemm", [[rows, 3], [4, 3], [4]], ([a, b, c]) => gemm(a!, b!, { transposeB: true, plus: c })],
  [
    "FusedMatMul",
    [
      [2, 2, 3],
      [3, 4],
    ],
    ([a, b]) => matMul(a!, b!, { alpha: 2 }),
  ],
  [
    "FusedMatMul",
    [
      [2, rows, 3],
      [2, 4, 3],
    ],
    ([a, b]) => matMul(a!, b!, { transposeB: true }),
  ],
  [
    "FusedMatMul",
    [
      [2, 3, 2],
      [2, 3, 4],
    ],
    ([a, b]) => matMul(a!, b!, { transposeA: true }),
  ],
  [
    "FusedMatMul",
    [
      [2, 3, 2],
      [1, 4, 3],
    ],
    ([a, b]) => matMul(a!, b!, { transposeA: true, transposeB: true }),
  ],
  ["RmsNorm", [[rows, 4], [4]], ([x, weight]) => rmsNorm(x!, weight!, 1e-6)],
  ["RmsNorm", [[rows, 4], [4]], ([x, weight]) => rmsNorm(x!, weight!, 1e-6, true)],
  [
    "RmsNorm", // of a sum, with which the runtime has an operator that gives no root
    [[rows, 4], [4]],
    ([x, weight]) => rmsNorm(add(x!, mul(x!, x!)), weight!, 1e-6, true),
  ],
  [
    "RotaryEmbedding",
    [[1, 3, 8]],
    ([x], graph) =>
      rotaryEmbedding(x!, graph.ints([0, 2, 1], [1, 3]), {
        cosines: graph.floats([1, 1, 0.6, 0.8, -0.28, 0], [3, 2]),
        sines: graph.floats([0, 0, 0.8, 0.6, 0.96, 1], [3, 2]),
      }),
  ],
  [
    "RotaryEmbedding",
    [[1, 3, 8]],
    ([x], graph) =>
      rotaryEmbedding(
        x!,
        graph.ints([0, 2, 1], [1, 3]),
        { cosines: graph.floats([1, 0.6, -0.28], [3, 1]), sines: graph.floats([0, 0.8, 0.96], [3, 1]) },
        4,
      ),
  ],
  [
    "CausalAttention",
    [
      [2, 1, 6, 2],
      [2, 1, 3, 2],
      [2, 1, 3, 2],
    ],
    ([q, k, v], graph) => causalAttention(q!, k!, v!, causalBias(graph, 3), { scale: 0.9, cap: 0.5 }),
  ],
  ["Softmax", [[3, 4]], ([x]) => mul(softmax(x!), softmax(mul(x!, 2)))],
  [
    "TakeRows",
    [[4, 2]],
    ([x], graph) => mul(takeRows(x!, graph.ints([3, 1])), takeRows(x!, graph.ints([0, 3]))),
  ],
  [
    "AddRows",
    [
      [4, 2],
      [2, 2],
    ],
    ([x, y], graph) => mul(addRows(x!, graph.ints([3, 1]), y!), x!),
  ],
  ["Slice", [[rows, 5]], ([x]) => add(columns(x!, 1, 3), columns(x!, 3, 5))],
  [
    "CausalAttention",
    [
      [2, 1, 6, 2],
      [2, 1, 3, 2],
      [2, 1, 3, 2],
    ],
    ([q, k, v], graph) => causalAttention(q!, k!, v!, causalBias(graph, 3)),
  ],
  [
    "SequenceAttention",
    [
      [2, 3, 16],
      [2, 3, 8],
      [2, 3, 8],
    ],
    ([q, k, v], graph) =>
      sequenceAttention([q!, k!, v!], sequenceLengths(graph, 2, 3), { heads: 2, groups: 1, scale: 0.9 }),
  ],
  [
    "PrefixedAttention",
    [
      [2, 1, 6, 2],
      [1, 1, 4, 2],
      [1, 1, 4, 2],
      [2, 1, 3, 2],
      [2, 1, 3, 2],
    ],
    ([q, ...others], graph) => {
      const [prefixKeys, prefixValues, keys, values] = others.map((x) => x!);
      const prefix = { keys: prefixKeys!, values: prefixValues! };
      const own = { keys: keys!, values: values! };
      return prefixedAttention(q!, prefix, own, prefixedBias(graph, 3, 4, 5), { scale: 0.9 });
    },
  ],
  [
    "JoinRows",
    [
      [2, 3],
      [3, 3],
    ],
    ([x, y], graph) => {
      const all = joinRows([x!, y!], [graph.ints([0, 1]), graph.ints([2, 3, 4])], "all");
      return mul(all, all);
    },
  ],
  [
    "SwiGlu",
    [
      [2, 3],
      [2, 3],
    ],
    ([gate, up]) => swiGlu(gate!, up!),
  ],
  [
    "TargetLogProbability",
    [[3, 4]],
    ([x], graph) => tokenDistribution(mul(x!, 2), graph.ints([1, 0, 3])).logProbabilities,
  ],
  ["Tanh", [[2, 3]], ([x]) => tanh(x!)],
  [
    "GeGluTanh",
    [
      [2, 3],
      [2, 3],
    ],
    ([gate, up]) => geGluTanh(gate!, up!),
  ],
  ["Erf", [[2, 3]], ([x]) => erf(x!)],
  [
    "GeGlu",
    [
      [2, 3],
      [2, 3],
    ],
    ([gate, up]) => geGlu(gate!, up!),
  ],
  [
    "PadRows",
    [[3, 2]],
    ([x], graph) => {
      const padded = padRows(x!, paddedLayout(graph));
      return mul(mul(padded, padded), counted(graph));
    },
  ],
  ["UnpadRows", [[6, 2]], ([x], graph) => unpadRows(x!, paddedLayout(graph))],
  ["Entropy", [[3, 4]], ([x], graph) => tokenDistribution(mul(x!, 2), graph.ints([1, 0, 3])).entropies],
];

/** Composites whose rules come with them. */
const ownRules: Case[] = [
  [
    "VocabularyLogProbability",
    [
      [3, 2],
      [4, 2],
    ],
    ([x, head], graph) =>
      vocabularyDistribution(mul(x!, 2), head!, graph.ints([1, 0, 3]), bothWanted).logProbabilities,
  ],
  [
    "VocabularyEntropy",
    [
      [3, 2],
      [4, 2],
    ],
    ([x, head], graph) =>
      vocabularyDistribution(mul(x!, 2), head!, graph.ints([1, 0, 3]), bothWanted).entropies,
  ],
];

test.each(cases)("the rule of %s agrees with finite differences", async (rule, shapes, build) => {
  expect(gradientRules).toHaveProperty(rule);
  expect(await gradientError(shapes, build)).toBeLessThan(2e-3);
});

test.each(ownRules)("the own rule of %s agrees with finite differences", async (_, shapes, build) => {
  expect(await gradientError(shapes, build)).toBeLessThan(2e-3);
});

test("every rule is among the cases", () => {
  // Tiles are too large for finite differences: tiled-attention.test.ts compares them with attention in one piece.
  const tested = new Set(["TiledAttention", ...cases.map(([rule]) => rule)]);
  expect(Object.keys(gradientRules).filter((rule) => !tested.has(rule))).toEqual([]);
});

test("a value used twice gets the sum of its gradients, a constant none", async () => {
  const error = await gradientError([[2, 3]], ([x], graph) => add(mul(x!, x!), mul(graph.floats([3]), x!)));
  expect(error).toBeLessThan(2e-3);
});

test("rows of a table that other steps use too are given apart, and come to the same", async () => {
  const graph = createGraph();
  const table = graph.input("table", "float32", [4, 2]);
  const numbers = graph.input("numbers", "int64", ["rows"]);
  const lonely = graph.input("lonely", "float32", [4, 2]);
  const taken = gather(table, numbers);
  const loss = add(
    reduceSum(mul(mul(taken, taken), gather(lonely, numbers))),
    reduceSum(mul(linear(graph.input("x", "float32", [3, 2]), table), 3)),
  );
  gradients(loss, [table, lonely]).forEach((gradient, at) => {
    graph.output(`whole${at}`, gradient);
  });
  const [inParts, alone] = gradientsWithRows(loss, [table, lonely]);
  graph.output("dense", inParts!.gradient);
  expect(inParts!.rows.map((part) => part.numbers)).toEqual([numbers]);
  graph.output("rows", inParts!.rows[0]!.updates);
  expect(alone!.rows).toEqual([]);
  graph.output("alone", alone!.gradient);
  const session = await createModelSession(modelBytes(graph));
  const outputs = await session.run({
    table: { shape: [4, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8) },
    lonely: { shape: [4, 2], data: Float32Array.of(1, -1, 2, -2, 3, -3, 4, -4) },
    numbers: { shape: [3], data: BigInt64Array.of(3n, 1n, 3n) },
    x: { shape: [3, 2], data: Float32Array.of(1, 0, 2, 1, 0, 5) },
  });
  await session.close();
  const sum = Array.from(outputs.floats("dense"));
  [3, 1, 3].forEach((place, row) => {
    for (const column of [0, 1]) sum[2 * place + column]! += outputs.floats("rows")[2 * row + column]!;
  });
  expect(sum).toEqual(Array.from(outputs.floats("whole0")));
  // Each row: 3 · Σ x, and twice the row times its factors as often as it was taken.
  expect(sum).toEqual([
    9,
    18,
    9 + 2 * 3 * 2,
    18 - 2 * 4 * 2,
    9,
    18,
    9 + 2 * (2 * 7 * 4),
    18 - 2 * (2 * 8 * 4),
  ]);
  expect(outputs.floats("alone")).toEqual(outputs.floats("whole1"));
});

test("what can't be differentiated is refused by name", () => {
  const graph = createGraph();
  const x = graph.input("x", "float32", [2]);
  const other = graph.input("other", "float32", [2]);
  const square = graph.input("square", "float32", [2, 2]);
  expect(() => gradients(x, [x])).toThrow("the loss has the shape [2], not []");
  expect(() => gradients(reduceSum(x), [other])).toThrow("the loss doesn't depend on other");
  expect(() => gradients(reduceSum(upperTriangle(square, 1)), [square])).toThrow(
    "Trilu has no gradient rule",
  );
});
