import { after } from "./after.ts";
import { dequantize, gatherQuantized } from "./dequantize.ts";
import { elementBytes } from "./element-bytes.ts";
import { toFloat } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import type { FloatValue, Graph, IntValue, Value } from "./graph.ts";
import { gather } from "./indexing.ts";
import { gemm, linear } from "./linear-algebra.ts";
import { matrixRows, type QuantizedMatrix, type StoredPart } from "./quantized-matrix.ts";

/** A frozen half-precision matrix [out, in] that stays unchanged in its file. */
export interface HalfMatrix {
  readonly shape: readonly number[];
  readonly type: "float16" | "bfloat16";
  readonly values: StoredPart;
}

/** A matrix that is never trained, stored in less than float32. */
export type FrozenMatrix = QuantizedMatrix | HalfMatrix;

/** Returns the bytes of a matrix, wherever its numbers are. */
export function frozenBytes(
  matrix: Pick<HalfMatrix, "shape" | "type"> | Pick<QuantizedMatrix, "shape" | "bits" | "block" | "minimums">,
): number {
  const [out = 0, input = 0] = matrix.shape;
  if ("type" in matrix) return out * input * elementBytes[matrix.type];
  const { bits, block, minimums } = matrix;
  return out * input * (bits / 8 + (minimums ? 8 : 4) / block);
}

/** Returns a matrix as floats [out, in], computed after the others like in `dequantize`. No gradient rule. */
export function frozenFloats(graph: Graph, matrix: FrozenMatrix, ...others: FloatValue[]): FloatValue {
  if (!isHalf(matrix)) return dequantize(graph, matrix, ...others);
  return toFloat(after(stored(graph, matrix), ...others));
}

/** Returns rows of a table by their number, as floats [rows, in]. No gradient rule. */
export function gatherFrozen(matrix: FrozenMatrix, rows: IntValue | Value<"int32">): FloatValue {
  return isHalf(matrix) ? toFloat(gather(stored(rows.graph, matrix), rows)) : gatherQuantized(matrix, rows);
}

/** Returns the rows `from` up to but not including `to`, in the same file or memory. */
export function frozenRows(matrix: FrozenMatrix, from: number, to: number): FrozenMatrix {
  if (!isHalf(matrix)) return matrixRows(matrix, from, to);
  const { shape, type, values } = matrix;
  const [, input = 0] = shape;
  const offset = values.offset + from * input * elementBytes[type];
  return { ...matrix, shape: [to - from, input], values: { ...values, offset } };
}

/**
 * Computes x · weightᵀ (+ bias) for a frozen weight and rows x [rows, in]. The weight is converted to floats for each
 * product, forward and backward, and not kept in between. Fastest for many rows.
 */
export function frozenLinear(x: FloatValue, weight: FrozenMatrix, bias?: FloatValue): FloatValue {
  const rule: GradientRule = (dy) => [gemm(dy, frozenFloats(dy.graph, weight, dy))];
  return x.graph.composite("FrozenLinear", [x], () => ({
    output: linear(x, frozenFloats(x.graph, weight, x), bias),
    saved: [],
    rule,
  }));
}

function isHalf(matrix: FrozenMatrix): matrix is HalfMatrix {
  return "type" in matrix;
}

function stored(graph: Graph, { type, values, shape }: HalfMatrix): Value<HalfMatrix["type"]> {
  return graph.storedValue(type, values.file, values.offset, shape);
}
