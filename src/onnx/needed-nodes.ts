import type { Graph, GraphNode, Value } from "./graph.ts";

/** The nodes that the outputs depend on; differentiation leaves others behind. */
export function neededNodes(graph: Graph): GraphNode[] {
  const needed = new Set<Value>(graph.outputs.values());
  const nodes = graph.nodes.toReversed().filter((node) => {
    if (!node.outputs.some((output) => needed.has(output))) return false;
    for (const input of node.inputs) needed.add(input);
    return true;
  });
  return nodes.reverse();
}
