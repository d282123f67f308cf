import { floatConstant, valueConstant } from "./dequantize.ts";
import { type Dimension, product, type Shape } from "./dimensions.ts";
import { add, mul } from "./elementwise.ts";
import type { FloatValue, Value } from "./graph.ts";
import { gemm, matMul } from "./linear-algebra.ts";
import type { QuantizedMatrix } from "./quantized-matrix.ts";
import { reduceMean } from "./reductions.ts";
import { partCount, roundedParts } from "./rounded-parts.ts";
import { runtimeDomain } from "./runtime-domain.ts";
import { concat, reshape } from "./shaping.ts";

/**
 * How rows are multiplied by quantized matrices in inference (see `quantizedProducts`).
 * - `rounded`: on the CPU, each block of a row is rounded to 8 bits.
 * - `parts`: on the CPU with exact rows. 8-bit matrices use products of integers, with the rows in three parts.
 * - `halves`: on the CPU with exact rows. 8-bit matrices become two 4-bit matrices.
 * - `floats`: on a card with exact rows, by the runtime's products, which would round on the CPU.
 */
export type QuantizedProducts = "rounded" | "parts" | "halves" | "floats";

/**
 * Returns x · weightᵀ (+ bias) for inference, for x with any number of axes. A row's numbers don't depend on the other
 * rows. No gradient rule.
 */
export function quantizedLinear(
  x: FloatValue,
  weight: QuantizedMatrix,
  products: QuantizedProducts,
  bias?: FloatValue,
): FloatValue {
  if (products === "rounded") return linearByBlocks(x, weight, accuracies.integers, bias);
  if (products === "floats") {
    const sum = linearByBlocks(x, weight, accuracies.floats);
    return bias ? add(sum, bias) : sum;
  }
  return products === "parts" && weight.bits === 8
    ? linearByParts(x, weight, bias)
    : linearByFours(x, weight, bias);
}

/**
 * The lowest accuracy_level of MatMulNBits to use. With integers, each block of a row is rounded to a scale times 8-bit
 * integers with the largest at ±127, so that products are sums of integers.
 */
const accuracies = { floats: 1, integers: 4 };

/** Uses the runtime's product of rows and blocks. */
function linearByBlocks(
  x: FloatValue,
  weight: QuantizedMatrix,
  accuracy: number,
  bias?: FloatValue,
): FloatValue {
  const { graph } = x;
  const { shape, bits, block, minimums } = weight;
  const [out = 0, input = 0] = shape;
  const blocks = input / block;
  const values = valueConstant(graph, weight, "uint8", [out, blocks, (block * bits) / 8]);
  const scales = floatConstant(graph, weight.scales, [out, blocks]);
  const before = x.shape.slice(0, -1);
  const inputs = [x, values, scales, ...(bias ? [graph.absent, graph.absent, bias] : [])];
  const attributes = { K: input, N: out, bits, block_size: block, accuracy_level: accuracy };
  const output = { dtype: "float32", shape: [...before, out] } as const;
  const products = graph.emit("MatMulNBits", inputs, output, attributes, runtimeDomain);
  if (!minimums) return products;
  // Rounded numbers are multiplied by small numbers around 0, and the rest is exact.
  const middles = add(floatConstant(graph, minimums, [out, blocks]), mul(scales, 2 ** (bits - 1)));
  const rows = reshape(x, [product(before), input]);
  const sum = plusBlocks(rows, middles, reshape(products, [product(before), out]));
  return reshape(sum, output.shape);
}

/** Keeps rows exact by splitting them into parts that rounding does not change. */
function linearByParts(x: FloatValue, weight: QuantizedMatrix, bias?: FloatValue): FloatValue {
  const { graph } = x;
  const [out = 0] = weight.shape;
  const before = x.shape.slice(0, -1);
  const each = linearByBlocks(roundedParts(x, weight.block), weight, accuracies.integers);
  const flat = reshape(each, [partCount, product([...before, out])]);
  // As a matrix product, because the runtime sums slowly over the first axis.
  const ones = graph.floats(new Float32Array(partCount).fill(1), [1, partCount]);
  const sum = reshape(matMul(ones, flat), [...before, out]);
  return bias ? add(sum, bias) : sum;
}

/**
 * Keeps rows exact with the runtime's product of floats and 4-bit integers. 8-bit matrices are split into two 4-bit
 * ones when the session is created.
 */
function linearByFours(x: FloatValue, weight: QuantizedMatrix, bias?: FloatValue): FloatValue {
  const { graph } = x;
  const { shape, bits, block, minimums } = weight;
  const [out = 0, input = 0] = shape;
  const rows = reshape(x, [product(x.shape.slice(0, -1)), input]);
  const blocks = input / block;
  const values = valueConstant(graph, weight, "uint8", [out, blocks, (block * bits) / 8]);
  const scales = floatConstant(graph, weight.scales, [out, blocks]);
  const more = withOneMore(x, rows);
  const times = (halves: Value<"uint8">, isCentred: boolean) => {
    const zeros = graph.bytes("uint8", new Uint8Array(out * Math.ceil(blocks / 2)), [
      out,
      Math.ceil(blocks / 2),
    ]);
    const inputs = [more, halves, scales, ...(isCentred ? [] : [zeros])];
    const attributes = { K: input, N: out, bits: 4, block_size: block, accuracy_level: accuracies.floats };
    const output = { dtype: "float32", shape: [more.shape[0]!, out] } as const;
    return graph.emit("MatMulNBits", inputs, output, attributes, runtimeDomain);
  };
  const isSymmetric = minimums === undefined;
  const products =
    bits === 4
      ? times(values, isSymmetric)
      : add(
          mul(times(pairs(upperHalves(values)), isSymmetric), 16),
          times(pairs(lowerHalves(values)), false),
        );
  const sum = more === rows ? products : allButLast(products, rows.shape[0]!);
  const withMinimums = minimums ? plusBlocks(rows, floatConstant(graph, minimums, [out, blocks]), sum) : sum;
  return reshape(bias ? add(withMinimums, bias) : withMinimums, [...x.shape.slice(0, -1), out]);
}

/** Adds the product of rows and a matrix with one number per block, [out, blocks], to products [rows, out]. */
function plusBlocks(rows: FloatValue, numbers: FloatValue, products: FloatValue): FloatValue {
  const [count = 0, input = 0] = rows.shape;
  const blocks = Number(numbers.shape[1]);
  const block = Number(input) / blocks;
  const means = reshape(reduceMean(reshape(rows, [count, blocks, block]), [-1]), [count, blocks]);
  // A factor other than 1, because with 1 the runtime multiplies a single row by another kernel, with other last bits.
  return gemm(means, numbers, { transposeB: true, alpha: block, plus: products });
}

/** Rows with an additional row, by input. Linear maps of the same rows share them. */
const extended = new WeakMap<FloatValue, FloatValue>();

/**
 * Appends the first row of x again, because the runtime multiplies a single row by another kernel, with other last
 * bits.
 */
function withOneMore(x: FloatValue, rows: FloatValue): FloatValue {
  const [count = 0] = rows.shape;
  if (typeof count === "number" && count > 1) return rows;
  const first = slice(rows, 0, 1, [1, rows.shape[1]!]);
  const known =
    extended.get(x) ?? concat([rows, first], 0, `one-more-than-${String(count).replaceAll("*", "-")}`);
  extended.set(x, known);
  return known;
}

function allButLast(rows: FloatValue, count: Dimension): FloatValue {
  return slice(rows, 0, -1, [count, rows.shape[1]!]);
}

function slice(a: FloatValue, from: number, to: number, shape: Shape): FloatValue {
  const { graph } = a;
  return graph.emit("Slice", [a, graph.ints([from]), graph.ints([to]), graph.ints([0])], {
    dtype: "float32",
    shape,
  });
}

function upperHalves(bytes: Value<"uint8">): Value<"uint8"> {
  return shifted(bytes, 4, "RIGHT");
}

function lowerHalves(bytes: Value<"uint8">): Value<"uint8"> {
  const { graph, shape } = bytes;
  return graph.emit("BitwiseAnd", [bytes, graph.bytes("uint8", Uint8Array.of(15), [])], {
    dtype: "uint8",
    shape,
  });
}

/** Packs 4-bit numbers, one per byte, into two per byte, the first in the lower half. */
function pairs(numbers: Value<"uint8">): Value<"uint8"> {
  const { graph } = numbers;
  const [out = 0, blocks = 0, block] = numbers.shape;
  const shape = [out, blocks, Number(block) / 2];
  const apart = reshape(numbers, [...shape, 2]);
  const one = (place: number) =>
    graph.emit("Gather", [apart, graph.ints([place], [])], { dtype: "uint8", shape }, { axis: 3 });
  return graph.emit("BitwiseOr", [one(0), shifted(one(1), 4, "LEFT")], { dtype: "uint8", shape });
}

function shifted(bytes: Value<"uint8">, by: number, direction: "LEFT" | "RIGHT"): Value<"uint8"> {
  const { graph, shape } = bytes;
  const inputs = [bytes, graph.bytes("uint8", Uint8Array.of(by), [])];
  return graph.emit("BitShift", inputs, { dtype: "uint8", shape }, { direction });
}
