import { elementTypes } from "./element-types.ts";
import { type GraphNode, readsOf, type Value } from "./graph.ts";

/**
 * Rewrites nodes to compute matrix products on operands cast to half precision, and casts the results back: mixed
 * precision (arXiv 1710.03740) as far as it is safe. Weights, gradients, norms, softmax and losses stay float32.
 * Elementwise operators between products also use half precision, because their results would be rounded anyway.
 * `outputs` are those of the graph. With `rounded`, products are float32 from and to numbers rounded to half precision.
 * That computes a card's results on a CPU without half precision. The caller removes unused casts.
 */
export function inHalfPrecision(
  nodes: readonly GraphNode[],
  dtype: "float16" | "bfloat16",
  rounded: boolean,
  outputs: Iterable<Value>,
): GraphNode[] {
  const isForProducts = readByProductsAlone(nodes, outputs);
  /** Values in the form of operands. */
  const operands = new Map<Value, Value>();
  /**
   * For values cast from half precision, the originals. For half-precision values, those that a cast returns unchanged.
   */
  const sources = new Map<Value, Value>();

  const halfOf = (value: Value): Value => ({ ...value, name: `${value.name}_${dtype}`, dtype });
  const comesFrom = (output: Value, half: Value) => {
    sources.set(output, half);
    operands.set(output, half);
  };

  const inHalf = (node: GraphNode, output: Value): GraphNode[] => {
    const before: GraphNode[] = [];
    const inputs = node.inputs.map((value) => {
      if (value.dtype !== "float32") return value;
      const known = operands.get(value);
      if (known) return known;
      const half = halfOf(value);
      const single = { ...value, name: `${value.name}_rounded` };
      before.push(cast(value, half));
      if (rounded) before.push(cast(half, single));
      operands.set(value, rounded ? single : half);
      return rounded ? single : half;
    });
    const half = halfOf(output);
    const exact = { ...output, name: `${output.name}_exact` };
    if (rounded) operands.set(output, output);
    else comesFrom(output, half);
    const written = { ...node, inputs, outputs: [rounded ? exact : half] };
    return [...before, written, ...(rounded ? [cast(exact, half)] : []), cast(half, output)];
  };

  /** Whether the numbers of a value are already in half precision. */
  const isHalf = (value: Value) => (rounded ? operands.get(value) === value : sources.has(value));

  const isBetween = (node: GraphNode, output: Value) => {
    const floats = node.inputs.filter((value) => value.dtype === "float32");
    const single = (value: Value) => value.shape.length === 0;
    return (
      isForProducts(output) && floats.some(isHalf) && floats.every((value) => isHalf(value) || single(value))
    );
  };

  const movement = (node: GraphNode, output: Value): GraphNode[] => {
    const floats = node.inputs.filter((value) => value.dtype === "float32");
    if (floats.length === 0 || !floats.every((value) => sources.has(value))) return [node];
    const half = halfOf(output);
    comesFrom(output, half);
    const inputs = node.inputs.map((value) => sources.get(value) ?? value);
    return [{ ...node, inputs, outputs: [half] }, cast(half, output)];
  };

  /** Handles the graph's own casts. One to half precision undoes an earlier cast from it. */
  const ownCast = (node: GraphNode, input: Value, output: Value): GraphNode[] => {
    const source = sources.get(input);
    if (input.dtype === "float32" && output.dtype === dtype && source) {
      sources.set(output, source);
      return [];
    }
    if (input.dtype === dtype && output.dtype === "float32" && !rounded) comesFrom(output, input);
    return [node];
  };

  return nodes.flatMap((given) => {
    const inputs = given.inputs.map((value) => (value.dtype === dtype && sources.get(value)) || value);
    const node = { ...given, inputs };
    const [input] = inputs;
    const [output] = node.outputs;
    if (input === undefined || output === undefined) return [node];
    if (products.includes(node.op)) return inHalf(node, output);
    if (elementwise.includes(node.op) && isBetween(node, output)) return inHalf(node, output);
    if (movements.includes(node.op)) return movement(node, output);
    return node.op === "Cast" ? ownCast(node, input, output) : [node];
  });
}

function cast(from: Value, to: Value): GraphNode {
  const attributes = { to: elementTypes[to.dtype] };
  return { op: "Cast", domain: "", inputs: [from], outputs: [to], attributes };
}

/** Operators of matrix products. */
const products = ["Gemm", "MatMul", "FusedMatMul", "MatMulNBits"];

/** Operators that move numbers without changing them. */
const movements = ["Reshape", "Transpose", "Slice", "Concat"];

/** Operators that process each number separately. */
const elementwise = ["Add", "Erf", "Mul", "Sigmoid", "Sub", "Tanh"];

/**
 * Returns values that only products read, either directly or after elementwise operators, as between the linear maps of
 * a gated unit. `nodes` are in running order. Outputs of the graph have other readers.
 */
function readByProductsAlone(
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
