import { broadcastShapes, type Dimension } from "./dimensions.ts";
import { add } from "./elementwise.ts";
import { type Attributes, type FloatValue, graphError } from "./graph.ts";
import { runtimeDomain } from "./runtime-domain.ts";

/** Which operands to transpose (their last two axes), and a factor of the result (default 1). */
export interface ProductOptions {
  transposeA?: boolean;
  transposeB?: boolean;
  alpha?: number;
}

function outerAndInner(value: FloatValue, transposed: boolean): [Dimension, Dimension] {
  const [rows, columns] = value.shape.slice(-2);
  if (rows === undefined || columns === undefined) throw graphError(`${value.name} is not a matrix`);
  return transposed ? [columns, rows] : [rows, columns];
}

function resultOf(a: FloatValue, b: FloatValue, options: ProductOptions): [Dimension, Dimension] {
  const [rows, inner] = outerAndInner(a, options.transposeA ?? false);
  const [innerB, columns] = outerAndInner(b, options.transposeB ?? false);
  if (inner !== innerB) {
    throw graphError(`matrices [${a.shape.join(", ")}] and [${b.shape.join(", ")}] don't multiply`);
  }
  return [rows, columns];
}

function attributesOf({ transposeA, transposeB, alpha }: ProductOptions): Attributes {
  return { transA: transposeA ? 1 : 0, transB: transposeB ? 1 : 0, alpha: { float: alpha ?? 1 } };
}

/** Options of a product of matrices, and a summand with its shape or the shape of its rows. */
export interface MatrixProductOptions extends ProductOptions {
  plus?: FloatValue | undefined;
}

/** Returns the product of two matrices: alpha · op(a) op(b) (+ plus). The fastest kernel for two dimensions. */
export function gemm(a: FloatValue, b: FloatValue, options: MatrixProductOptions = {}): FloatValue {
  if (a.shape.length !== 2 || b.shape.length !== 2) throw graphError("gemm multiplies tensors of rank 2");
  const shape = resultOf(a, b, options);
  const inputs = options.plus ? [a, b, options.plus] : [a, b];
  return a.graph.emit("Gemm", inputs, { dtype: "float32", shape }, attributesOf(options));
}

/** Returns products of stacks of matrices: alpha · op(a) op(b) over the last two axes, with the others broadcast. */
export function matMul(a: FloatValue, b: FloatValue, options: ProductOptions = {}): FloatValue {
  const matrix = resultOf(a, b, options);
  const shape = [...broadcastShapes(a.shape.slice(0, -2), b.shape.slice(0, -2)), ...matrix];
  const output = { dtype: "float32", shape } as const;
  return a.graph.emit("FusedMatMul", [a, b], output, attributesOf(options), runtimeDomain);
}

/**
 * Returns x · weightᵀ (+ bias [out]) for weights in Hugging Face's [out, in] layout. x is [rows, in], or has more axes.
 */
export function linear(x: FloatValue, weight: FloatValue, bias?: FloatValue): FloatValue {
  if (x.shape.length === 2) return gemm(x, weight, { transposeB: true, plus: bias });
  const product = matMul(x, weight, { transposeB: true });
  return bias ? add(product, bias) : product;
}
