import { type DataType, type FloatValue, graphError, type IntValue, type Value } from "./graph.ts";

/**
 * Returns `x`, available only after the others. Without this, independent parts of a graph would all begin early and
 * hold their results in memory together. Costs nothing: x gets a shape of zeros, which mean its own sizes. The shape is
 * computed from sizes of the others that are known only at run time, because the runtime folds constants. No gradient
 * rule.
 */
export function after<Type extends DataType>(x: Value<Type>, ...others: FloatValue[]): Value<Type> {
  const { graph } = x;
  const zeros = graph.ints(x.shape.map(() => 0));
  const shape = others.reduce((product, other): IntValue => {
    const axis = other.shape.findIndex((dimension) => typeof dimension === "string");
    if (axis < 0) throw graphError(`nothing can wait for ${other.name}, whose sizes are all constant`);
    const attributes = { start: axis, end: axis + 1 };
    const size = graph.emit("Shape", [other], { dtype: "int64", shape: [1] }, attributes);
    return graph.emit("Mul", [product, size], { dtype: "int64", shape: zeros.shape });
  }, zeros);
  return graph.emit("Reshape", [x, shape], { dtype: x.dtype, shape: x.shape });
}
