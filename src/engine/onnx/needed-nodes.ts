import { type GraphBody, type GraphNode, readsOf, type Value } from "./graph.ts";

/** Returns the nodes that the outputs depend on. Differentiation leaves others behind. */
export function neededNodes(graph: GraphBody): GraphNode[] {
  return nodesFor(graph.nodes, graph.outputs.values());
}

/** Returns the nodes that some values depend on. */
export function nodesFor(nodes: readonly GraphNode[], values: Iterable<Value>): GraphNode[] {
  const needed = new Set<Value>(values);
  const kept = nodes.toReversed().filter((node) => {
    if (!node.outputs.some((output) => needed.has(output))) return false;
    for (const value of readsOf(node)) needed.add(value);
    return true;
  });
  return kept.reverse();
}
