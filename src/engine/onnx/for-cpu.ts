import type { GraphNode, Value } from "./graph.ts";
import { type Lowering, lowered } from "./lowering.ts";

/** Nodes with what the processor does faster otherwise written so. */
export function forCpu(nodes: readonly GraphNode[]): GraphNode[] {
  return lowered(nodes, lowerings);
}

const lowerings: Readonly<Record<string, Lowering>> = {
  // The runtime's product reads a transposed first factor column by column, again for every 128 columns of the second.
  Gemm({ inputs, attributes }, output, append) {
    const [a, ...others] = inputs;
    if (a === undefined || attributes.transA !== 1 || !isWorthCopying(output)) return;
    // With its own shape: what is read in another part of a large graph is written down with it.
    const transposed = { ...a, name: `${output.name}_transposed`, shape: a.shape.toReversed() };
    append("Transpose", [a], { perm: [1, 0] }, transposed);
    append("Gemm", [transposed, ...others], { ...attributes, transA: 0 }, output);
  },
};

/** A product of few columns reads its first factor but once or twice; a copy of a large one (logits) would take much memory. */
function isWorthCopying({ shape: [rows, columns] }: Value): boolean {
  return Number(rows) <= 16_384 && Number(columns) >= 256;
}
