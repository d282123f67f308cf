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
    append(
      "Gemm",
      [append("Transpose", [a], { perm: [1, 0] }), ...others],
      { ...attributes, transA: 0 },
      output,
    );
  },
};

/** A product of few columns reads its first factor but once or twice; a copy of a large one (logits) would take much memory. */
function isWorthCopying({ shape: [rows, columns] }: Value): boolean {
  return Number(rows) <= 16_384 && Number(columns) >= 256;
}
