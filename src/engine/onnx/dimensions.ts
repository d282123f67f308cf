import { EverturnError } from "../../base/errors/everturn-error.ts";

/**
 * One dimension of a shape: a number, or the name of a size known only when the graph runs. A product is written with
 * stars, coefficient first, names sorted: "4*batch*length".
 */
export type Dimension = number | string;

/** The dimensions of a tensor, outermost first. */
export type Shape = readonly Dimension[];

/** The factors of a product: `coefficient` × all `names`. */
export interface Factors {
  coefficient: number;
  names: string[];
}

/** Splits a product of dimensions into its factors. An empty shape is 1. */
export function factorsOf(shape: Shape): Factors {
  let coefficient = 1;
  const names: string[] = [];
  for (const dimension of shape) {
    for (const factor of String(dimension).split("*")) {
      if (/^\d+$/.test(factor)) coefficient *= Number(factor);
      else names.push(factor);
    }
  }
  return { coefficient, names: names.sort() };
}

/** Returns the product of dimensions as one dimension: `product(["batch", "length", 2])` is "2*batch*length". */
export function product(shape: Shape): Dimension {
  const { coefficient, names } = factorsOf(shape);
  if (names.length === 0) return coefficient;
  return coefficient === 1 ? names.join("*") : [coefficient, ...names].join("*");
}

/**
 * Returns the shape in numbers, given sizes for its named dimensions. Throws ONNX_GRAPH_INVALID for a name without a
 * size.
 */
export function sizedShape(shape: Shape, sizes: Readonly<Record<string, number>>): number[] {
  return shape.map((dimension) => {
    const { coefficient, names } = factorsOf([dimension]);
    return names.reduce((total, name) => {
      const size = sizes[name];
      if (size !== undefined) return total * size;
      const reason = `the dimension "${name}" was given no size`;
      throw new EverturnError("ONNX_GRAPH_INVALID", { reason });
    }, coefficient);
  });
}

/** Whether two shapes are equal dimension by dimension. */
export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dimension, index) => dimension === b[index]);
}

/** The axis counted from the front; throws ONNX_GRAPH_INVALID outside the rank. */
export function frontAxis(axis: number, rank: number): number {
  const front = axis < 0 ? axis + rank : axis;
  if (front < 0 || front >= rank) {
    throw new EverturnError("ONNX_GRAPH_INVALID", { reason: `axis ${axis} of a tensor of rank ${rank}` });
  }
  return front;
}

/** The shape two tensors have together under NumPy's broadcasting; throws ONNX_GRAPH_INVALID if they don't fit. */
export function broadcastShapes(a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, index) => {
    const left = a[index - rank + a.length] ?? 1;
    const right = b[index - rank + b.length] ?? 1;
    if (left === right || right === 1) return left;
    if (left === 1) return right;
    throw new EverturnError("ONNX_GRAPH_INVALID", {
      reason: `shapes [${a.join(", ")}] and [${b.join(", ")}] don't broadcast`,
    });
  });
}
