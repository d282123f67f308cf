import { type GraphNode, readsOf, type Value } from "./graph.ts";

/** Operators of matrix products. */
export const products = ["Gemm", "MatMul", "FusedMatMul", "MatMulNBits"];

/** Operators that move numbers and change none. */
export const movements = ["Reshape", "Transpose", "Slice", "Concat"];

/** Operators that work on each number by itself. */
export const elementwise = ["Add", "Erf", "Mul", "Sigmoid", "Sub", "Tanh"];

/**
 * Values that nothing but products read, as they are or after operators that work on each number by itself, as between the
 * linear maps of a gated unit. `nodes` come in the order in which they run; outputs of the graph are read by others.
 */
export function readByProductsAlone(
  nodes: readonly GraphNode[],
  outputs: Iterable<Value>,
): (value: Value) => boolean {
  const others = new Set(outputs);
  for (const node of nodes.toReversed()) {
    if (products.includes(node.op)) continue;
    const passes = elementwise.includes(node.op) || movements.includes(node.op);
    if (passes && !node.outputs.some((output) => others.has(output))) continue;
    for (const value of readsOf(node)) others.add(value);
  }
  return (value) => !others.has(value);
}
