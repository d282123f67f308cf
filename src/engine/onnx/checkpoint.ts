import { type FloatValue, graphError } from "./graph.ts";

/**
 * What `build` computes from `inputs`, the only values that gradients go back to. Nothing of it is kept for the
 * backward pass, which computes it once more (gradient checkpointing, arXiv 1604.06174): less memory for more time.
 */
export function checkpoint(inputs: readonly FloatValue[], build: () => FloatValue): FloatValue {
  const [first] = inputs;
  if (!first) throw graphError("a checkpoint without inputs");
  return first.graph.composite("Checkpoint", inputs, () => ({ output: build(), saved: [], rebuild: build }));
}
