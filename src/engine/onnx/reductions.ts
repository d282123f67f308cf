import { frontAxis, type Shape } from "./dimensions.ts";
import type { FloatValue, IntValue } from "./graph.ts";

function reduce(op: string, a: FloatValue, axes: readonly number[], keepDimensions: boolean): FloatValue {
  const fronts = axes.map((axis) => frontAxis(axis, a.shape.length));
  const shape: Shape = keepDimensions
    ? a.shape.map((dimension, axis) => (fronts.includes(axis) ? 1 : dimension))
    : a.shape.filter((_, axis) => !fronts.includes(axis));
  const inputs = [a, a.graph.ints(fronts)];
  return a.graph.emit(op, inputs, { dtype: "float32", shape }, { keepdims: keepDimensions ? 1 : 0 });
}

const allAxes = (a: FloatValue) => a.shape.map((_, axis) => axis);

/** Returns the sum over axes (default: all), which are dropped, or kept with size 1. */
export function reduceSum(a: FloatValue, axes = allAxes(a), keepDimensions = false): FloatValue {
  return reduce("ReduceSum", a, axes, keepDimensions);
}

/** Returns the mean over axes (default: all), which are dropped, or kept with size 1. */
export function reduceMean(a: FloatValue, axes = allAxes(a), keepDimensions = false): FloatValue {
  return reduce("ReduceMean", a, axes, keepDimensions);
}

/** Returns the largest number along the last axis, which is kept with size 1. No gradient rule. */
export function reduceMax(a: FloatValue): FloatValue {
  return reduce("ReduceMax", a, [-1], true);
}

/** Returns the place of the largest number along the last axis; of equal ones the first. */
export function argMax(a: FloatValue): IntValue {
  const output = { dtype: "int64", shape: a.shape.slice(0, -1) } as const;
  return a.graph.emit("ArgMax", [a], output, { axis: -1, keepdims: 0 });
}

/** Returns e^a over the sum of e^a along the last axis. */
export function softmax(a: FloatValue): FloatValue {
  return a.graph.emit("Softmax", [a], { dtype: "float32", shape: a.shape }, { axis: -1 });
}

/** Returns the logarithm of softmax along the last axis. */
export function logSoftmax(a: FloatValue): FloatValue {
  return a.graph.emit("LogSoftmax", [a], { dtype: "float32", shape: a.shape }, { axis: -1 });
}
