import type { Attributes, GraphNode, Value } from "./graph.ts";

/** Appends a node. Without `output`, its result gets a new name, and the type and shape of its first input. */
export type Append = (op: string, inputs: readonly Value[], attributes?: Attributes, output?: Value) => Value;

/**
 * Rewrites a node in terms of others. The last one computes its output. If nothing is appended, the node stays.
 */
export type Lowering = (node: GraphNode, output: Value, append: Append) => void;

/** Returns nodes with some operators rewritten in terms of others. */
export function lowered(
  nodes: readonly GraphNode[],
  lowerings: Readonly<Record<string, Lowering>>,
): GraphNode[] {
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
    return written.length > 0 ? written : [node];
  });
}
