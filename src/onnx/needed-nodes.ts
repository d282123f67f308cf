import { type Graph, type GraphNode, readsOf, type Value } from "./graph.ts";

/** The nodes that the outputs depend on; differentiation leaves others behind. */
export function neededNodes(graph: Graph): GraphNode[] {
  const needed = new Set<Value>(graph.outputs.values());
  const nodes = graph.nodes.toReversed().filter((node) => {
    if (!node.outputs.some((output) => needed.has(output))) return false;
    for (const value of readsOf(node)) needed.add(value);
    return true;
  });
  return nodes.reverse();
}
