import { elementTypes } from "./element-types.ts";
import { type GraphNode, readsOf, type Value } from "./graph.ts";

/**
 * Nodes that compute matrix products on operands cast to half precision, and cast the results back: mixed precision
 * (arXiv 1710.03740) as far as it is safe. Weights, gradients, norms, softmax and losses stay float32; what is between products, number by number,
 * is computed in half precision too, as its results would be rounded anyway. `outputs` are those of the graph. With
 * `rounded`, products are float32 too, from and to numbers rounded to half precision: what a card computes, for
 * a processor that can't. Casts that nothing reads are left to whoever takes the nodes.
 */
export function inHalfPrecision(
  nodes: readonly GraphNode[],
  dtype: "float16" | "bfloat16",
  rounded: boolean,
  outputs: Iterable<Value>,
): GraphNode[] {
  const isForProducts = readByProductsAlone(nodes, outputs);
  /** What numbers are as operands. */
  const operands = new Map<Value, Value>();
  /** Of numbers that were cast from half precision, these; of half precision, what a cast gives that changes none. */
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

  /** Whether a number, or each of several, is one of half precision already. */
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

  /** Casts of the graph's own: one to half precision takes back what was cast from it. */
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

/** Operators that move numbers and change none. */
const movements = ["Reshape", "Transpose", "Slice", "Concat"];

/** Operators that work on each number by itself. */
const elementwise = ["Add", "Erf", "Mul", "Sigmoid", "Sub", "Tanh"];

/**
 * Values that nothing but products read, as they are or after operators that work on each number by itself, as between the
 * linear maps of a gated unit. `nodes` come in the order in which they run; outputs of the graph are read by others.
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
