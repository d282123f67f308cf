import { expect, test } from "vitest";
import {
  causalAttention,
  causalBias,
  type ScoreOptions,
} from "../../../../src/engine/onnx/causal-attention.ts";
import { createModelSession } from "../../../../src/engine/onnx/create-model-session.ts";
import { type Dimension, product } from "../../../../src/engine/onnx/dimensions.ts";
import { mul } from "../../../../src/engine/onnx/elementwise.ts";
import { gradients } from "../../../../src/engine/onnx/gradients.ts";
import { createGraph } from "../../../../src/engine/onnx/graph.ts";
import { modelBytes } from "../../../../src/engine/onnx/model-bytes.ts";
import { peakBytes } from "../../../../src/engine/onnx/peak-memory.ts";
import { reduceSum } from "../../../../src/engine/onnx/reductions.ts";
import { tiledAttention, tiledLength, tileSize } from "../../../../src/engine/onnx/tiled-attention.ts";
import { relativeError } from "../../torch-fixtures.ts";
import { noise } from "./finite-differences.ts";

const [batch, heads, group, size] = [2, 2, 2, 4];

function graphOf(length: Dimension, window?: number, options?: ScoreOptions) {
  const graph = createGraph();
  const input = (name: string, rows: Dimension) => graph.input(name, "float32", ["batch", heads, rows, size]);
  const own = [
    input("queries", product([group, length])),
    input("keys", length),
    input("values", length),
  ] as const;
  const attended =
    length === tiledLength
      ? tiledAttention(...own, window, options)
      : causalAttention(...own, causalBias(graph, length, window), options);
  graph.output("attended", attended);
  const loss = reduceSum(mul(attended, input("weights", product([group, length]))));
  gradients(loss, own).forEach((gradient, at) => {
    graph.output(["dQueries", "dKeys", "dValues"][at]!, gradient);
  });
  return graph;
}

test.each<[string, number | undefined, ScoreOptions]>([
  ["the whole past", undefined, {}],
  ["a window shorter than a tile", 100, {}],
  ["a window longer than a tile, and capped scores", tileSize + 100, { scale: 0.7, cap: 2 }],
])(
  "tile by tile, outputs and gradients are those of attention in one piece: %s",
  async (_, window, options) => {
    const length = 3 * tileSize;
    const of = (rows: number, seed: number) => ({
      shape: [batch, heads, rows, size],
      data: noise(batch * heads * rows * size, seed).map((value) => 2 * value),
    });
    const feeds = {
      queries: of(group * length, 1),
      keys: of(length, 2),
      values: of(length, 3),
      weights: of(group * length, 4),
    };
    const run = async (dimension: Dimension) => {
      const graph = graphOf(dimension, window, options);
      const session = await createModelSession(modelBytes(graph));
      const outputs = await session.run(feeds);
      const found = [...graph.outputs.keys()].map((name) => outputs.floats(name).slice());
      await session.close();
      return found;
    };
    const [whole, tiled] = [await run("length"), await run(tiledLength)];
    tiled.forEach((numbers, at) => {
      expect(relativeError(numbers, whole[at]!)).toBeLessThan(2e-6);
    });
  },
);

test("tile by tile, memory grows with the length, in one piece with its square", () => {
  const peak = (length: Dimension, tiles: number) =>
    peakBytes(graphOf(length), { batch: 1, length: tiles * tileSize, tiles, seen: tiles * tileSize });
  expect(peak(tiledLength, 32) / peak(tiledLength, 8)).toBeLessThan(4.2);
  expect(peak("length", 32) / peak("length", 8)).toBeGreaterThan(15);
  expect(peak(tiledLength, 32)).toBeLessThan(peak("length", 32) / 8);
});
