import type { Dimension } from "./dimensions.ts";
import { elementTypes } from "./element-types.ts";
import type { GraphNode } from "./graph.ts";
import { type Lowering, lowered } from "./lowering.ts";

/** Rewrites operators that WebGPU lacks in terms of others, so that none runs on the CPU. */
export function forWebgpu(nodes: readonly GraphNode[]): GraphNode[] {
  return lowered(nodes, lowerings);
}

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
  // The indices of a scatter are as large as its data, and the card can only expand int32.
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
