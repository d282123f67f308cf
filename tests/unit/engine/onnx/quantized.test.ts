import { expect, test } from "vitest";
import { defined } from "../../../../src/base/records/defined.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { dequantize, gatherQuantized } from "../../../../src/engine/onnx/dequantize.ts";
import { mul, sub } from "../../../../src/engine/onnx/elementwise.ts";
import { frozenLinear } from "../../../../src/engine/onnx/frozen-matrix.ts";
import { gradients } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { gemm } from "../../../../src/engine/onnx/linear-algebra.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { matrixRows, type QuantizedMatrix } from "../../../../src/engine/onnx/quantized-matrix.ts";
import { quantizedLinear } from "../../../../src/engine/onnx/quantized-product.ts";
import { quantizedProducts } from "../../../../src/engine/onnx/quantized-products.ts";
import { reduceSum } from "../../../../src/engine/onnx/reductions.ts";
import { type TokenDistribution, tokenDistribution } from "../../../../src/engine/onnx/token-distribution.ts";
import { vocabularyDistribution } from "../../../../src/engine/onnx/vocabulary-distribution.ts";
import { noise } from "./finite-differences.ts";

const [out, input] = [24, 96];

type Held = QuantizedMatrix & { values: Uint8Array; scales: Float32Array; minimums?: Float32Array };

function quantizedMatrix(bits: 4 | 8, block: number, hasMinimums: boolean): Held {
  const bytes = (out * input * bits) / 8;
  const blocks = (out * input) / block;
  const values = Uint8Array.from(noise(bytes, 3), (value) => Math.floor((value + 1) * 128) & 255);
  const scales = noise(blocks, 4).map((value) => value / 2 ** bits);
  return defined({
    shape: [out, input],
    bits,
    block,
    values,
    scales,
    minimums: hasMinimums ? noise(blocks, 5) : undefined,
  });
}

/** The matrix as numbers, by its definition. */
function numbersOf({ bits, block, values, scales, minimums }: Held): number[] {
  return Array.from({ length: out * input }, (_, at) => {
    const value = bits === 8 ? values[at]! : (values[at >> 1]! >> (4 * (at & 1))) & 15;
    const ofBlock = Math.floor(at / block);
    return scales[ofBlock]! * (value - (minimums ? 0 : 2 ** (bits - 1))) + (minimums?.[ofBlock] ?? 0);
  });
}

/** What the middle value of each number's block stands for. */
function middlesOf({ bits, block, scales, minimums }: Held): number[] {
  return Array.from({ length: out * input }, (_, at) => {
    const ofBlock = Math.floor(at / block);
    return minimums ? minimums[ofBlock]! + 2 ** (bits - 1) * scales[ofBlock]! : 0;
  });
}

const ways = ["rounded", "parts", "halves", "floats"] as const;

const kinds = [
  [8, 32, false],
  [4, 32, false],
  [4, 32, true],
  [8, 16, true],
  [4, 16, false],
] as const;

test.each(kinds)("%i bits in blocks of %i (minimums: %s) are what they stand for", async (...kind) => {
  const weight = quantizedMatrix(...kind);
  const graph = createGraph();
  const x = graph.input("x", "float32", ["rows", input]);
  const bias = graph.floats(noise(out, 7));
  const product = frozenLinear(x, weight, bias);
  graph.output("whole", dequantize(graph, weight, x));
  graph.output("part", dequantize(graph, matrixRows(weight, 5, 9)));
  graph.output("gathered", gatherQuantized(weight, graph.ints([3, 0, 3])));
  graph.output("product", product);
  for (const way of ways) graph.output(way, quantizedLinear(x, weight, way, bias));
  graph.output("dx", gradients(reduceSum(mul(product, product)), [x])[0]!);
  const session = await createModelSession(modelBytes(graph));
  const data = noise(3 * input, 6);
  const outputs = await session.run({ x: { shape: [3, input], data } });
  await session.close();

  const numbers = numbersOf(weight);
  const rows = (from: number, to: number) => numbers.slice(from * input, to * input);
  expectClose(outputs.floats("whole"), numbers, 1e-7);
  expectClose(outputs.floats("part"), rows(5, 9), 1e-7);
  expectClose(outputs.floats("gathered"), [...rows(3, 4), ...rows(0, 1), ...rows(3, 4)], 1e-7);
  const productsOf = (inputs: Float32Array, matrix = numbers) =>
    Array.from({ length: 3 * out }, (_, at) => {
      const [row, unit] = [Math.floor(at / out), at % out];
      const own = matrix.slice(unit * input, (unit + 1) * input);
      const products = own.map((number, column) => number * inputs[row * input + column]!);
      return products.reduce((sum, one) => sum + one, noise(out, 7)[unit]!);
    });
  const expected = productsOf(data);
  expectClose(outputs.floats("product"), expected, 1e-6);
  expectClose(outputs.floats("parts"), expected, 1e-6);
  expectClose(outputs.floats("halves"), expected, 1e-6);
  expectClose(outputs.floats("floats"), expected, 1e-6);
  // Rows are rounded as they meet what a number of the matrix is off the middle of its block.
  const middles = middlesOf(weight);
  const rounded = roundedTo8Bits(data, weight.block);
  const ofMiddles = (inputRows: Float32Array) => productsOf(inputRows, middles);
  const [kept, lost] = [ofMiddles(data), ofMiddles(rounded)];
  const sums = productsOf(rounded).map((sum, at) => sum + kept[at]! - lost[at]!);
  expectClose(outputs.floats("rounded"), sums, 1e-6);
  const gradient = Array.from({ length: 3 * input }, (_, at) => {
    const [row, column] = [Math.floor(at / input), at % input];
    const terms = Array.from(
      { length: out },
      (_term, unit) => 2 * expected[row * out + unit]! * numbers[unit * input + column]!,
    );
    return terms.reduce((sum, one) => sum + one, 0);
  });
  expectClose(outputs.floats("dx"), gradient, 1e-6);
});

/** Each block as integers from −127 to 127 times a number. */
function roundedTo8Bits(data: Float32Array, block: number): Float32Array {
  return data.map((value, at) => {
    const from = at - (at % block);
    const largest = data
      .subarray(from, from + block)
      .reduce((most, other) => Math.max(most, Math.abs(other)), 0);
    return (Math.round((value * 127) / largest) * largest) / 127;
  });
}

/** Those of the processor; products on a card are by kernels that suit the number of rows. */
const waysOfProcessor = ways.filter((way) => way !== "floats");

test.each(kinds.flatMap((kind) => waysOfProcessor.map((way) => [way, ...kind] as const)))(
  "%s: %i bits in blocks of %i (minimums: %s): a row's product is the same in any batch",
  async (way, ...kind) => {
    const graph = createGraph();
    graph.output(
      "y",
      quantizedLinear(graph.input("x", "float32", ["rows", input]), quantizedMatrix(...kind), way),
    );
    const session = await createModelSession(modelBytes(graph));
    const count = 37;
    const data = noise(count * input, 6);
    const of = async (from: number, to: number) => {
      const x = { shape: [to - from, input], data: data.slice(from * input, to * input) };
      return Array.from((await session.run({ x })).floats("y"));
    };
    const together = await of(0, count);
    for (const [from, to] of [
      [0, 1],
      [36, 37],
      [3, 5],
      [7, 15],
      [4, 36],
    ] as const) {
      expect(await of(from, to)).toEqual(together.slice(from * out, to * out));
    }
    await session.close();
  },
);

test.each(["parts", "halves"] as const)(
  "%s: a row of zeros gives zeros, one of large numbers loses no more than others",
  async (way) => {
    const graph = createGraph();
    const weight = quantizedMatrix(8, 32, false);
    graph.output("y", quantizedLinear(graph.input("x", "float32", ["rows", input]), weight, way));
    const session = await createModelSession(modelBytes(graph));
    const data = new Float32Array(2 * input);
    data.set([1e30, ...noise(input - 1, 8).map((value) => 1e30 * value)], input);
    const y = (await session.run({ x: { shape: [2, input], data } })).floats("y");
    await session.close();
    expect(Array.from(y.subarray(0, out))).toEqual(Array.from({ length: out }, () => 0));
    const numbers = numbersOf(weight);
    const expected = Array.from({ length: out }, (_, unit) =>
      data.subarray(input).reduce((sum, one, at) => sum + one * numbers[unit * input + at]!, 0),
    );
    expectClose(y.subarray(out), expected, 1e-6);
  },
);

test("products of long rows' parts lose less than sums of floats do", async () => {
  const [rows, long, units, block] = [5, 4864, 8, 32];
  const values = Uint8Array.from(noise(units * long, 3), (value) => Math.floor((value + 1) * 128) & 255);
  const scales = noise((units * long) / block, 4);
  const graph = createGraph();
  const weight = { shape: [units, long], bits: 8, block, values, scales } as const;
  graph.output("y", quantizedLinear(graph.input("x", "float32", ["rows", long]), weight, "parts"));
  const session = await createModelSession(modelBytes(graph));
  const data = noise(rows * long, 6);
  const y = (await session.run({ x: { shape: [rows, long], data } })).floats("y");
  await session.close();
  const expected = Array.from({ length: rows * units }, (_, at) => {
    const [row, unit] = [Math.floor(at / units), at % units];
    return data.subarray(row * long, (row + 1) * long).reduce((sum, number, column) => {
      const place = unit * long + column;
      return sum + number * scales[Math.floor(place / block)]! * (values[place]! - 128);
    }, 0);
  });
  expectClose(y, expected, 1e-6);
});

test.runIf(process.arch === "x64")("x86 processors multiply integers exactly", async () => {
  expect(await quantizedProducts("float32")).toBe("parts");
  expect(await quantizedProducts("int8")).toBe("rounded");
});

/** Differences relative to the largest number. */
function expectClose(found: Float32Array, expected: readonly number[], tolerance: number): void {
  expect(found).toHaveLength(expected.length);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const worst = found.reduce((most, value, at) => Math.max(most, Math.abs(value - expected[at]!)), 0);
  expect(worst / largest).toBeLessThan(tolerance);
}

test("a quantized head gives the distribution and gradients of its numbers, in parts", async () => {
  const [vocabulary, size] = [8200, 32];
  const values = Uint8Array.from(noise(vocabulary * size, 3), (value) => Math.floor((value + 1) * 128) & 255);
  const scales = noise(vocabulary, 4).map((value) => value / 64);
  const head: QuantizedMatrix = { shape: [vocabulary, size], bits: 8, block: 32, values, scales };
  const graph = createGraph();
  const hidden = graph.input("hidden", "float32", ["rows", size]);
  const targets = graph.input("targets", "int64", ["rows"]);
  const wants = { gradients: true, entropies: true };
  const weigh = ({ logProbabilities, entropies }: TokenDistribution) =>
    reduceSum(sub(mul(logProbabilities, logProbabilities), mul(entropies, 3)));
  const parts = weigh(vocabularyDistribution(hidden, head, targets, wants));
  const whole = weigh(
    tokenDistribution(gemm(hidden, dequantize(graph, head), { transposeB: true }), targets),
  );
  graph.output("parts", parts);
  graph.output("whole", whole);
  graph.output("gradient", gradients(parts, [hidden])[0]!);
  graph.output("expected", gradients(whole, [hidden])[0]!);
  const session = await createModelSession(modelBytes(graph));
  const outputs = await session.run({
    hidden: { shape: [2, size], data: noise(2 * size, 6) },
    targets: { shape: [2], data: BigInt64Array.of(3n, 8195n) },
  });
  await session.close();
  expect(outputs.floats("parts")[0]! / outputs.floats("whole")[0]!).toBeCloseTo(1, 5);
  expectClose(outputs.floats("gradient"), Array.from(outputs.floats("expected")), 1e-4);
});
