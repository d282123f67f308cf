import { sameShape } from "./dimensions.ts";
import type { GraphNode, Value } from "./graph.ts";
import { runtimeDomain } from "./runtime-domain.ts";

/** Nodes with each sum that is normalized next in one operator with its norm, which gives the sum too: a call less. */
export function fuseSkipNorms(nodes: readonly GraphNode[]): GraphNode[] {
  const sums = new Map<Value, GraphNode>();
  for (const node of nodes) if (node.op === "Add") sums.set(node.outputs[0]!, node);
  const fused = new Set<GraphNode>();
  const written = nodes.map((node) => {
    const [x, weight] = node.inputs;
    const sum = x && sums.get(x);
    if (node.op !== "SimplifiedLayerNormalization" || !sum || fused.has(sum)) return node;
    if (node.outputs.length > 1) return node; // for gradients: the operator of both gives no inverse root on the CPU
    if (!sum.inputs.every(({ shape }) => sameShape(shape, x.shape))) return node;
    fused.add(sum);
    const { absent } = x.graph;
    return {
      op: "SkipSimplifiedLayerNormalization",
      domain: runtimeDomain,
      inputs: [...sum.inputs, weight!],
      outputs: [node.outputs[0]!, absent, absent, x],
      attributes: { epsilon: node.attributes.epsilon! },
    };
  });
  return written.filter((node) => !fused.has(node));
}
