import { elementTypes } from "./element-types.ts";
import type { GraphNode, Value } from "./graph.ts";

const products = ["Gemm", "MatMul", "FusedMatMul"];

/**
 * Nodes that compute matrix products on operands cast to half precision, and cast the results back: mixed precision
 * (arXiv 1710.03740) as far as it is safe. Weights, gradients, norms, softmax and losses stay float32. With
 * `rounded`, products are float32 too, from and to numbers rounded to half precision: what a card computes, for
 * a processor that can't.
 */
export function inHalfPrecision(
  nodes: readonly GraphNode[],
  dtype: "float16" | "bfloat16",
  rounded: boolean,
): GraphNode[] {
  const operands = new Map<Value, Value>();
  return nodes.flatMap((node) => {
    const [output] = node.outputs;
    if (!products.includes(node.op) || output === undefined) return [node];
    const before: GraphNode[] = [];
    const inputs = node.inputs.map((value) => {
      const known = operands.get(value);
      if (known) return known;
      const half = { ...value, name: `${value.name}_${dtype}`, dtype };
      const single = { ...value, name: `${value.name}_rounded` };
      before.push(cast(value, half));
      if (rounded) before.push(cast(half, single));
      operands.set(value, rounded ? single : half);
      return rounded ? single : half;
    });
    const half = { ...output, name: `${output.name}_${dtype}`, dtype };
    const exact = { ...output, name: `${output.name}_exact` };
    operands.set(output, rounded ? output : half);
    const product = { ...node, inputs, outputs: [rounded ? exact : half] };
    return [...before, product, ...(rounded ? [cast(exact, half)] : []), cast(half, output)];
  });
}

function cast(from: Value, to: Value): GraphNode {
  const attributes = { to: elementTypes[to.dtype] };
  return { op: "Cast", domain: "", inputs: [from], outputs: [to], attributes };
}
