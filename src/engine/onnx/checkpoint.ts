import { type FloatValue, graphError } from "./graph.ts";

/**
 * Returns the result of `build`, computed from `inputs`, the only values that gradients flow back to. None of it is
 * kept for the backward pass, which recomputes it (gradient checkpointing, arXiv 1604.06174): less memory for more
 * time.
 */
export function checkpoint(inputs: readonly FloatValue[], build: () => FloatValue): FloatValue {
  const [first] = inputs;
  if (!first) throw graphError("a checkpoint without inputs");
  return first.graph.composite("Checkpoint", inputs, () => ({ output: build(), saved: [], rebuild: build }));
}
