import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { createSession } from "../onnx/create-session.ts";
import { createGraph } from "../onnx/graph.ts";
import { matMul } from "../onnx/linear-algebra.ts";
import { modelBytes } from "../onnx/model-bytes.ts";

/** A vector of a file, by its number from 0, and its product with the one that was asked for. */
export interface Near {
  number: number;
  score: number;
}

/** The vectors of a file. */
export interface Vectors {
  readonly count: number;
  /** The `most` vectors whose product with this one is largest, exactly; of equal ones the first. Throws ONNX_RUN_FAILED. */
  nearest(vector: Float32Array, most: number): Promise<Near[]>;
  close(): Promise<void>;
}

/**
 * Opens a file of float32 vectors of `dimensions` numbers, one after the other in the machine's (little-endian) order. It is mapped into memory, and
 * all of it is read for each question, on `threads` threads (default 2). Throws VECTOR_FILE_INVALID.
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
  const session = await createSession(modelBytes(graph), { threads, weightsFolder: dirname(path) });
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

/** The largest numbers with their places, the largest first. */
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
