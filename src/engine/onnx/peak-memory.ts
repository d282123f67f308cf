import { sizedShape } from "./dimensions.ts";
import { elementBytes } from "./element-bytes.ts";
import { elementCount } from "./element-count.ts";
import { type GraphBody, type GraphNode, readsOf, type Value } from "./graph.ts";
import { neededNodes } from "./needed-nodes.ts";

/** Operators whose output shares the memory of their first input under another shape. */
const views = new Set(["Reshape", "Unsqueeze", "Squeeze", "Identity"]);
/**
 * Operators whose output ONNX Runtime may write over an input that is not needed afterwards, except outputs of the
 * graph.
 */
const inPlace = new Set([
  "Add",
  "Sub",
  "Mul",
  "Div",
  "Exp",
  "Sqrt",
  "Neg",
  "Sigmoid",
  "Softmax",
  "Clip",
  "ScatterElements",
]);

/**
 * Returns the most bytes that a pass of the graph holds at a time in addition to its inputs and constants, for sizes of
 * its named dimensions. These are results of nodes that are still needed; outputs count to the end. Nodes run in the
 * order in which they were written. Does not include the runtime's allocation overhead. `counts` restricts it to some
 * values.
 */
export function peakBytes(
  graph: GraphBody,
  named: Readonly<Record<string, number>>,
  counts: (value: Value) => boolean = () => true,
): number {
  const sizes = withShares(graph, named);
  const nodes = neededNodes(graph);
  const lastUse = new Map<Value, number>();
  const storage = new Map<Value, Value>();
  const stored = (value: Value): Value => storage.get(value) ?? value;
  nodes.forEach((node, at) => {
    const [first] = node.inputs;
    if (first && views.has(node.op)) storage.set(node.outputs[0]!, stored(first));
    for (const value of readsOf(node)) lastUse.set(stored(value), at);
  });
  const given = new Set(Array.from(graph.outputs.values(), stored));
  for (const output of given) lastUse.set(output, nodes.length);

  const live = new Map<Value, number>();
  let held = 0;
  let peak = 0;
  nodes.forEach((node, at) => {
    const dying = readsOf(node)
      .map(stored)
      .filter((value) => lastUse.get(value) === at && live.has(value));
    for (const output of node.outputs) {
      if (stored(output) !== output) continue;
      const bytes = counts(output) ? bytesOf(output, sizes) : 0;
      const isWrittenOver = inPlace.has(node.op) && !given.has(output);
      const reused = isWrittenOver ? dying.find((value) => live.get(value) === bytes) : undefined;
      if (reused) {
        live.delete(reused);
        held -= bytes;
      }
      live.set(output, bytes);
      held += bytes;
    }
    const inside = bytesInside(node, sizes, counts);
    peak = Math.max(peak, held + inside);
    for (const value of dying) {
      held -= live.get(value) ?? 0;
      live.delete(value);
    }
  });
  return peak;
}

/** Returns the bytes that a node holds while it is computed. */
function bytesInside(
  { op, outputs, attributes: { body } }: GraphNode,
  sizes: Readonly<Record<string, number>>,
  counts: (value: Value) => boolean,
): number {
  if (typeof body === "object" && "body" in body) return peakBytes(body.body, sizes, counts);
  // Attention with weights as an output computes them in its own memory.
  const weights = op === "GroupQueryAttention" ? outputs[3] : undefined;
  return weights && counts(weights) ? bytesOf(weights, sizes) : 0;
}

/** Sizes known only at run time count at their average. */
function withShares(graph: GraphBody, sizes: Readonly<Record<string, number>>): Record<string, number> {
  const all = { ...sizes };
  for (const [name, { of, part }] of graph.shares)
    all[name] = Math.ceil(elementCount(sizedShape([of], sizes)) * part);
  return all;
}

function bytesOf({ shape, dtype }: Value, sizes: Readonly<Record<string, number>>): number {
  return elementCount(sizedShape(shape, sizes)) * elementBytes[dtype];
}
