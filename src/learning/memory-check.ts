import { EverturnError } from "../errors/everturn-error.ts";
import type { Graph } from "../onnx/graph.ts";
import { peakBytes } from "../onnx/peak-memory.ts";
import { tileSize } from "../onnx/tiled-attention.ts";
import type { TokenBatch } from "./batch.ts";

/** What a run of a model is about to need. */
export interface PlannedRun {
  graph: Graph;
  batch: TokenBatch;
  samples: number;
  /** What comes beside the run: gradients of earlier runs, moments that are not in memory yet. */
  besideBytes: number;
}

/**
 * Checks each run before it starts: throws TRAINING_MEMORY_SHORT if it needs more memory than there is. What earlier
 * runs needed counts as there, since the runtime keeps it. `available` gives bytes.
 */
export function createMemoryCheck(available = () => process.availableMemory()): (run: PlannedRun) => void {
  let reserved = 0;
  return ({ graph, batch, samples, besideBytes }) => {
    const tokens = batch.tokens.length;
    const sizes = {
      rows: tokens,
      batch: batch.batch,
      length: batch.length,
      tiles: batch.length / tileSize,
      seen: batch.length,
      actions: batch.actions.length,
      samples,
    };
    const needed = peakBytes(graph, sizes) + besideBytes;
    const free = available();
    if (needed - reserved > free) {
      const megabytes = (bytes: number) => Math.ceil(bytes / 1e6);
      throw new EverturnError("TRAINING_MEMORY_SHORT", {
        tokens,
        needed: megabytes(needed - reserved),
        available: megabytes(free),
      });
    }
    reserved = Math.max(reserved, needed);
  };
}
