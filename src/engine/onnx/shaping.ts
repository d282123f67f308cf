import { type Dimension, factorsOf, frontAxis, product, type Shape, sameShape } from "./dimensions.ts";
import { type DataType, type FloatValue, graphError, type IntValue, type Value } from "./graph.ts";

/** Returns the same elements in another shape of equal size. */
export function reshape<Type extends DataType>(a: Value<Type>, shape: Shape): Value<Type> {
  if (product(a.shape) !== product(shape)) {
    throw graphError(`[${a.shape.join(", ")}] can't be reshaped to [${shape.join(", ")}]`);
  }
  if (sameShape(a.shape, shape)) return a;
  // ONNX interprets 0 as the input's size at that place, and −1 as the size that follows from the others.
  const sizes = shape.map((size, axis) =>
    typeof size === "number" ? size : size === a.shape[axis] ? 0 : -1,
  );
  const unknown = shape.filter((dimension) => typeof dimension === "string").length;
  const inferred = unknown === 1 ? sizes.map((size) => (size === 0 ? -1 : size)) : sizes;
  const target =
    inferred.filter((size) => size === -1).length <= 1 ? a.graph.ints(inferred) : a.graph.shapeTensor(shape);
  return a.graph.emit("Reshape", [a, target], { dtype: a.dtype, shape });
}

/** Reorders the axes: axis i of the result is axis order[i] of a. */
export function transpose<Type extends DataType>(a: Value<Type>, order: readonly number[]): Value<Type> {
  const shape = order.map((axis) => a.shape[frontAxis(axis, a.shape.length)]!);
  if (new Set(order).size !== a.shape.length) throw graphError(`transpose by [${order.join(", ")}]`);
  return a.graph.emit("Transpose", [a], { dtype: a.dtype, shape }, { perm: order });
}

/**
 * Concatenates tensors along an axis. If their sizes are not plain numbers, name the size of the result in `dimension`.
 */
export function concat<Type extends DataType>(
  parts: readonly [Value<Type>, ...Value<Type>[]],
  axis: number,
  dimension?: Dimension,
): Value<Type> {
  const [first] = parts;
  const front = frontAxis(axis, first.shape.length);
  const sizes = parts.map((part) => factorsOf([part.shape[front] ?? 1]));
  const known = sizes.every((one) => one.names.length === 0);
  const size = known ? sizes.reduce((total, { coefficient }) => total + coefficient, 0) : dimension;
  if (size === undefined) throw graphError("name the dimension of a concat whose sizes are not numbers");
  const shape = first.shape.map((own, index) => (index === front ? size : own));
  return first.graph.emit("Concat", parts, { dtype: first.dtype, shape }, { axis: front });
}

/** Returns the elements from `from` up to but not including `to` along the last axis. */
export function columns<Type extends DataType>(a: Value<Type>, from: number, to: number): Value<Type> {
  return slice(a, from, to, frontAxis(-1, a.shape.length));
}

/** Returns the elements from `from` up to but not including `to` along the first axis. No gradient rule. */
export function rows(a: FloatValue, from: number, to: number): FloatValue {
  return slice(a, from, to, 0);
}

function slice<Type extends DataType>(a: Value<Type>, from: number, to: number, axis: number): Value<Type> {
  const inputs = [a, a.graph.ints([from]), a.graph.ints([to]), a.graph.ints([axis])];
  const shape = a.shape.map((dimension, at) => (at === axis ? to - from : dimension));
  return a.graph.emit("Slice", inputs, { dtype: a.dtype, shape });
}

/** Returns zeros in the shape of a. */
export function zerosLike(a: FloatValue): FloatValue {
  const zero = a.graph.floats(
    [0],
    a.shape.map(() => 1),
  );
  return expand(zero, a.shape);
}

/** Repeats axes of size 1 up to a shape. */
export function expand<Type extends DataType>(a: Value<Type>, shape: Shape): Value<Type> {
  return a.graph.emit("Expand", [a, a.graph.shapeTensor(shape)], { dtype: a.dtype, shape });
}

/** Keeps elements `offset` or more above the diagonal of the last two axes. The rest becomes zero. No gradient rule. */
export function upperTriangle(a: FloatValue, offset: number | IntValue): FloatValue {
  return triangle(a, offset, 1);
}

/** Keeps elements at most `offset` above the diagonal of the last two axes. The rest becomes zero. No gradient rule. */
export function lowerTriangle(a: FloatValue, offset: number | IntValue): FloatValue {
  return triangle(a, offset, 0);
}

function triangle(a: FloatValue, offset: number | IntValue, upper: 0 | 1): FloatValue {
  const inputs = [a, typeof offset === "number" ? a.graph.ints([offset], []) : offset];
  return a.graph.emit("Trilu", inputs, { dtype: "float32", shape: a.shape }, { upper });
}
