import type { Dimension } from "./dimensions.ts";
import { elementTypes } from "./element-types.ts";
import type { Attributes, GraphNode, Value } from "./graph.ts";

/** Appends a node; without `output` its result gets a name of its own, and the type and shape of its first input. */
type Append = (op: string, inputs: readonly Value[], attributes?: Attributes, output?: Value) => Value;

/** Nodes with the operators that WebGPU lacks written in terms of others, so that none runs on the CPU. */
export function forWebgpu(nodes: readonly GraphNode[]): GraphNode[] {
  return nodes.flatMap((node) => {
    const lowering = lowerings[node.op];
    const [output] = node.outputs;
    if (!lowering || output === undefined) return [node];
    const written: GraphNode[] = [];
    lowering(node, output, (op, inputs, attributes = {}, result) => {
      const like = inputs[0] ?? output;
      const value = result ?? { ...like, name: `${output.name}_${written.length}` };
      written.push({ op, domain: "", inputs, outputs: [value], attributes });
      return value;
    });
    return written;
  });
}

type Lowering = (node: GraphNode, output: Value, append: Append) => void;

const lowerings: Readonly<Record<string, Lowering>> = {
  FusedMatMul({ inputs, attributes }, output, append) {
    const [a, b] = inputs.map((value, index) => {
      if (attributes[index === 0 ? "transA" : "transB"] !== 1) return value;
      return append("Transpose", [value], { perm: lastTwoSwapped(value.shape) });
    });
    const factor = attributes.alpha;
    const alpha = typeof factor === "object" && "float" in factor ? factor.float : 1;
    if (a === undefined || b === undefined) return;
    if (alpha === 1) {
      append("MatMul", [a, b], {}, output);
      return;
    }
    const scale = append("Constant", [], { value_float: { float: alpha } });
    const factors =
      output.dtype === "float32" ? scale : append("Cast", [scale], { to: elementTypes[output.dtype] });
    append("Mul", [append("MatMul", [a, b]), factors], {}, output);
  },
  // Indices of a scatter, as large as what is scattered, and only int32 can be expanded on the card.
  Expand({ inputs: [values, shape] }, output, append) {
    if (values === undefined || shape === undefined) return;
    const small = values.dtype === "int64" ? append("Cast", [values], { to: elementTypes.int32 }) : values;
    append("Expand", [small, shape], {}, output);
  },
  LogSoftmax({ inputs }, output, append) {
    const axis = append("Constant", [], { value_ints: [-1] });
    const [logits] = inputs;
    if (logits === undefined) return;
    const shifted = append("Sub", [logits, append("ReduceMax", [logits, axis], { keepdims: 1 })]);
    const sum = append("ReduceSum", [append("Exp", [shifted]), axis], { keepdims: 1 });
    append("Sub", [shifted, append("Log", [sum])], {}, output);
  },
};

function lastTwoSwapped(shape: readonly Dimension[]): number[] {
  const last = shape.length - 1;
  return shape.map((_, axis) => (axis === last ? last - 1 : axis === last - 1 ? last : axis));
}
