import { type Shape, sameShape } from "./dimensions.ts";
import { type FloatValue, graphError, type TapeEntry } from "./graph.ts";
import { reduceSum } from "./reductions.ts";
import { reshape } from "./shaping.ts";

export type { Cotangent, GradientRule } from "./graph.ts";

/** Sums a gradient over the axes along which an operand of `shape` was broadcast. */
export function unbroadcast(gradient: FloatValue, shape: Shape): FloatValue {
  if (sameShape(gradient.shape, shape)) return gradient;
  const added = gradient.shape.length - shape.length;
  const axes = gradient.shape.flatMap((size, axis) =>
    axis < added || (shape[axis - added] === 1 && size !== 1) ? [axis] : [],
  );
  return reshape(reduceSum(gradient, axes, true), shape);
}

/** Returns an integer attribute of a step. */
export function integerAttribute({ op, attributes }: TapeEntry, name: string): number {
  const value = attributes[name];
  if (typeof value !== "number") throw graphError(`${op} has no integer attribute ${name}`);
  return value;
}

/** Returns an attribute of a step that is a list of integers. */
export function integersAttribute({ op, attributes }: TapeEntry, name: string): readonly number[] {
  const value = attributes[name];
  if (typeof value !== "object" || "float" in value || "body" in value)
    throw graphError(`${op} has no list ${name}`);
  return value;
}

/** Returns a float attribute of a step. */
export function floatAttribute({ op, attributes }: TapeEntry, name: string): number {
  const value = attributes[name];
  if (typeof value !== "object" || !("float" in value))
    throw graphError(`${op} has no float attribute ${name}`);
  return value.float;
}
