import { after } from "./after.ts";
import { type Dimension, product } from "./dimensions.ts";
import { elementTypes } from "./element-types.ts";
import { add, mul, sub, toFloat } from "./elementwise.ts";
import type { FloatValue, Graph, IntValue, Value } from "./graph.ts";
import { gather } from "./indexing.ts";
import { type Part, type QuantizedMatrix, zeroPoint } from "./quantized-matrix.ts";
import { reshape } from "./shaping.ts";

/**
 * Returns a quantized matrix as floats [out, in], computed after the others. Otherwise the runtime would begin with all
 * matrices of a model. No gradient rule.
 */
export function dequantize(graph: Graph, matrix: QuantizedMatrix, ...others: FloatValue[]): FloatValue {
  const { shape, bits, block, minimums } = matrix;
  const [out = 0, input = 0] = shape;
  const count = (out * input) / block;
  const type = bits === 4 ? "uint4" : "uint8";
  const scales = after(floatConstant(graph, matrix.scales, [count]), ...others);
  const zeros = minimums ? [] : [zeroPoints(graph, matrix, count)];
  const inputs = [valueConstant(graph, matrix, type, [count, block]), scales, ...zeros];
  const output = { dtype: "float32", shape: [count, block] } as const;
  const blocks = graph.emit("DequantizeLinear", inputs, output, { axis: 0 });
  return reshape(minimums ? add(blocks, floatConstant(graph, minimums, [count, 1])) : blocks, shape);
}

/** Returns rows of a quantized table by their number, as floats [rows, in]. No gradient rule. */
export function gatherQuantized(matrix: QuantizedMatrix, rows: IntValue | Value<"int32">): FloatValue {
  const { graph } = rows;
  const { shape, bits, block, minimums } = matrix;
  const [out = 0, input = 0] = shape;
  const blocks = input / block;
  const bytes = gather(valueConstant(graph, matrix, "uint8", [out, (input * bits) / 8]), rows);
  const ofBlocks = (part: Part<Float32Array>) =>
    reshape(gather(floatConstant(graph, part, [out, blocks]), rows), [...rows.shape, blocks, 1]);
  const numbers = reshape(bits === 4 ? halves(bytes) : toFloat(bytes), [...rows.shape, blocks, block]);
  const scaled = mul(sub(numbers, zeroPoint(matrix)), ofBlocks(matrix.scales));
  return reshape(minimums ? add(scaled, ofBlocks(minimums)) : scaled, [...rows.shape, input]);
}

/** Adds the values of a quantized matrix as a constant. */
export function valueConstant<Type extends "uint8" | "uint4">(
  graph: Graph,
  { values }: QuantizedMatrix,
  type: Type,
  shape: readonly number[],
): Value<Type> {
  if ("file" in values) return graph.storedValue(type, values.file, values.offset, shape);
  return graph.bytes(type, values, shape);
}

/** Adds the scales or minimums of a quantized matrix as a constant. */
export function floatConstant(graph: Graph, part: Part<Float32Array>, shape: readonly number[]): FloatValue {
  if ("file" in part) return graph.stored(part.file, part.offset, shape);
  return graph.floats(part, shape);
}

/**
 * The zero points by graph, shared because separate ones for each matrix of a large model would take tens of megabytes.
 */
const zeroPointsOf = new WeakMap<Graph, Map<string, Value<"uint8" | "uint4">>>();

/** Returns the zero points of `count` blocks. */
function zeroPoints(graph: Graph, matrix: QuantizedMatrix, count: number): Value<"uint8" | "uint4"> {
  const type = matrix.bits === 4 ? "uint4" : "uint8";
  const point = zeroPoint(matrix);
  const all = zeroPointsOf.get(graph) ?? new Map<string, Value<"uint8" | "uint4">>();
  zeroPointsOf.set(graph, all);
  const key = `${type}:${point}:${count}`;
  const bytes = () =>
    new Uint8Array(Math.ceil((count * matrix.bits) / 8)).fill(type === "uint4" ? point * 17 : point);
  const zeros = all.get(key) ?? graph.bytes(type, bytes(), [count]);
  all.set(key, zeros);
  return zeros;
}

/** Looks up both numbers of each byte. */
function halves(bytes: Value<"uint8">): FloatValue {
  const { graph, shape } = bytes;
  const table = Float32Array.from({ length: 512 }, (_, at) => ((at >> 1) >> (4 * (at & 1))) & 15);
  const numbers = graph.emit("Cast", [bytes], { dtype: "int32", shape }, { to: elementTypes.int32 });
  const pairs: Dimension[] = [...shape.slice(0, -1), product([shape.at(-1) ?? 1, 2])];
  return reshape(gather(graph.floats(table, [256, 2]), numbers), pairs);
}
