import { elementTypes } from "./element-types.ts";
import type { GraphNode, Value } from "./graph.ts";
import { type Append, type Lowering, lowered } from "./lowering.ts";

/**
 * Rewrites nodes for CUDA. The largest number of a long row is found in two steps, because CUDA's library uses few
 * threads per row: 49,152 numbers took about 1.8 ms regardless of the number of rows. And 4-bit numbers with one scale
 * per row are dequantized by block with a column of scales, because the runtime does not support the former on CUDA.
 */
export function forCuda(nodes: readonly GraphNode[]): GraphNode[] {
  return lowered(nodes, lowerings);
}

/** Shorter rows stay unchanged. */
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
    // GatherND would read its numbers from main memory, which a replayed recording can't access.
    const within = append("GatherElements", [places, part], { axis: 1 });
    const before = append("Mul", [part, integers([parts[1]], append)]);
    append("Reshape", [append("Add", [before, within]), integers([-1], append)], {}, output);
  },
};

/**
 * Returns a column of the 4-bit zero point, computed on the CPU when the session is created. The operators that could
 * reshape it do not support 4-bit numbers.
 */
function middles(rows: number, append: Append): Value {
  const each = append("Expand", [integers([8], append), integers([rows, 1], append)]);
  return append("Cast", [each], { to: elementTypes.uint4 });
}

/** Splits rows into parts [rows, parts, numbers]. */
function inParts(x: Value, parts: Parts, append: Append): Value {
  return append("Reshape", [x, integers([-1, ...parts], append)]);
}

/** Returns the largest number of each part [rows, parts]. */
function largestOf(whole: Value, append: Append): Value {
  return append("ReduceMax", [whole, axes(2, append)], { keepdims: 0 });
}

function integers(values: readonly number[], append: Append): Value {
  return append("Constant", [], { value_ints: [...values] });
}

const axes = (axis: number, append: Append) => integers([axis], append);

/** The number of parts per row, and their length. */
type Parts = readonly [count: number, length: number];

/** Returns the parts of long rows [rows, numbers], about as many as each has numbers; undefined for other rows. */
function partsOf({ shape }: Value): Parts | undefined {
  const numbers = shape[1];
  if (shape.length !== 2 || typeof numbers !== "number" || numbers < longRow) return undefined;
  for (let count = Math.floor(Math.sqrt(numbers)); count > 8; count--)
    if (numbers % count === 0) return [count, numbers / count];
  return undefined;
}
