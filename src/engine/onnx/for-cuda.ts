import { elementTypes } from "./element-types.ts";
import type { GraphNode, Value } from "./graph.ts";
import { type Append, type Lowering, lowered } from "./lowering.ts";

/**
 * Nodes with the largest number of long rows found in two steps: CUDA's library has few threads for a row, and the largest of
 * 49,152 numbers took it about 1.8 ms, however few rows there were. And with blocks of 4 bits as columns of several scales: of
 * those whose rows have a scale each the runtime has none there.
 */
export function forCuda(nodes: readonly GraphNode[]): GraphNode[] {
  return lowered(nodes, lowerings);
}

/** Rows that are shorter are left as they are. */
const longRow = 1024;

const lowerings: Readonly<Record<string, Lowering>> = {
  ReduceMax({ inputs: [x] }, output, append) {
    const parts = x && partsOf(x);
    if (parts)
      append(
        "ReduceMax",
        [largestOf(inParts(x, parts, append), append), axes(1, append)],
        { keepdims: 1 },
        output,
      );
  },
  DequantizeLinear({ inputs: [x, scales, zeros] }, output, append) {
    if (x?.dtype !== "uint4" || !scales) return;
    const [rows, block] = x.shape.map(Number);
    if (rows === undefined || block === undefined) return;
    const column = append("Reshape", [scales, integers([-1, 1], append)]);
    const inputs = [x, column, ...(zeros ? [middles(rows, append)] : [])];
    append("DequantizeLinear", inputs, { axis: 1, block_size: block }, output);
  },
  ArgMax({ inputs: [x] }, output, append) {
    const parts = x && partsOf(x);
    if (!parts) return;
    const whole = inParts(x, parts, append);
    const part = append("ArgMax", [largestOf(whole, append)], { axis: 1, keepdims: 1 });
    const places = append("ArgMax", [whole], { axis: 2, keepdims: 0 });
    // Not GatherND, which reads its numbers from memory of the processor's that a recorded run no longer has.
    const within = append("GatherElements", [places, part], { axis: 1 });
    const before = append("Mul", [part, integers([parts[1]], append)]);
    append("Reshape", [append("Add", [before, within]), integers([-1], append)], {}, output);
  },
};

/** A column of what zero is among 4 bits, made by the processor as the session is: what would give it another shape has no such numbers. */
function middles(rows: number, append: Append): Value {
  const each = append("Expand", [integers([8], append), integers([rows, 1], append)]);
  return append("Cast", [each], { to: elementTypes.uint4 });
}

/** Rows in parts [rows, parts, numbers]. */
function inParts(x: Value, parts: Parts, append: Append): Value {
  return append("Reshape", [x, integers([-1, ...parts], append)]);
}

/** The largest of each part [rows, parts]. */
function largestOf(whole: Value, append: Append): Value {
  return append("ReduceMax", [whole, axes(2, append)], { keepdims: 0 });
}

function integers(values: readonly number[], append: Append): Value {
  return append("Constant", [], { value_ints: [...values] });
}

const axes = (axis: number, append: Append) => integers([axis], append);

/** How many parts a row has, and how long they are. */
type Parts = readonly [count: number, length: number];

/** The parts of long rows [rows, numbers], about as many as they are long; undefined of others. */
function partsOf({ shape }: Value): Parts | undefined {
  const numbers = shape[1];
  if (shape.length !== 2 || typeof numbers !== "number" || numbers < longRow) return undefined;
  for (let count = Math.floor(Math.sqrt(numbers)); count > 8; count--)
    if (numbers % count === 0) return [count, numbers / count];
  return undefined;
}
