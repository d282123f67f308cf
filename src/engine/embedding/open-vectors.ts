import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { createModelSession } from "../onnx/create-model-session.ts";
import { createGraph } from "../onnx/graph.ts";
import { matMul } from "../onnx/linear-algebra.ts";
import { modelBytes } from "../onnx/model-bytes.ts";

/** A vector's number in its file, from 0, and its dot product with the query. */
export interface Near {
  number: number;
  score: number;
}

/** The vectors of a file. */
export interface Vectors {
  readonly count: number;
  /**
   * Returns exactly the `most` vectors with the largest dot products with `vector`. Of equal ones, the earlier comes
   * first. Throws ONNX_RUN_FAILED.
   */
  nearest(vector: Float32Array, most: number): Promise<Near[]>;
  close(): Promise<void>;
}

/**
 * Opens a file of consecutive float32 vectors (little-endian) with `dimensions` numbers each. The file is mapped into
 * memory. Each query reads all of it, with `threads` threads (default 2). Throws VECTOR_FILE_INVALID.
 */
export async function openVectors(
  path: string,
  dimensions: number,
  { threads = 2 }: { threads?: number } = {},
): Promise<Vectors> {
  const { size } = await stat(path);
  const count = size / (4 * dimensions);
  if (!Number.isInteger(count)) throw new EverturnError("VECTOR_FILE_INVALID", { path, size, dimensions });
  if (count === 0) return { count, nearest: async () => [], close: async () => {} };
  const graph = createGraph();
  const all = graph.stored(basename(path), 0, [count, dimensions]);
  graph.output("scores", matMul(all, graph.input("vector", "float32", [dimensions, 1])));
  const session = await createModelSession(modelBytes(graph), { threads, weightsFolder: dirname(path) });
  return {
    count,
    async nearest(vector, most) {
      const outputs = await session.run({ vector: { shape: [dimensions, 1], data: vector } });
      const near = largest(outputs.floats("scores"), most);
      outputs.release();
      return near;
    },
    close: () => session.close(),
  };
}

/** Returns the largest numbers and their positions in descending order. */
function largest(scores: Float32Array, most: number): Near[] {
  const best: Near[] = [];
  let least = Number.NEGATIVE_INFINITY;
  for (let number = 0; number < scores.length; number++) {
    const score = scores[number]!;
    if (best.length === most && !(score > least)) continue;
    let at = best.length;
    while (at > 0 && best[at - 1]!.score < score) at--;
    best.splice(at, 0, { number, score });
    if (best.length > most) best.pop();
    least = best.at(-1)?.score ?? least;
  }
  return best;
}
