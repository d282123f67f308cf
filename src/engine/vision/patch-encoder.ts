import type { PatchVision } from "../models/config/vision-config.ts";
import { type Dimension, product } from "../onnx/dimensions.ts";
import { add } from "../onnx/elementwise.ts";
import { swiGlu } from "../onnx/gated-units.ts";
import { gelu } from "../onnx/gelu.ts";
import type { FloatValue, Graph, IntValue } from "../onnx/graph.ts";
import { gather } from "../onnx/indexing.ts";
import { linear, matMul } from "../onnx/linear-algebra.ts";
import { softmax } from "../onnx/reductions.ts";
import { rmsNorm } from "../onnx/rms-norm.ts";
import { rotaryEmbedding } from "../onnx/rotary-embedding.ts";
import { columns, reshape, transpose } from "../onnx/shaping.ts";
import { keptLayer, type VisionWeight } from "./tile-encoder.ts";

/** Epsilon of the encoder's norms. */
const epsilon = 1e-6;

/** Patches that attend to each other, in rows padded to the longest. */
interface Windows {
  /** The patch at each place, [windows, size]; any patch for padding. */
  index: IntValue;
  /** To be added to scores, [windows, 1, 1, size]: −∞ for padding. */
  mask: FloatValue;
  /** Each patch's place in [windows · size]. */
  places: IntValue;
}

/**
 * Builds the encoder of Qwen2.5-VL (arXiv 2502.13923): a transformer over the patches of one image, most of whose layers
 * attend only within windows, and a merger of squares of patches. Inputs: `pixels` [tokens, merge², colors of a patch];
 * `numbers` [patches, 1], from 0; `cosines` and `sines` [patches, head size / 2] of the patches' rotations; the windows'
 * `index`, `mask` and `places`. Returns embeddings for the language part, [tokens, hidden size].
 */
export function encodedPatches(
  graph: Graph,
  vision: PatchVision,
  weight: VisionWeight,
  build = keptLayer,
): FloatValue {
  const {
    hidden_size: hidden,
    num_heads: heads,
    patch_size,
    temporal_patch_size,
    ...shape
  } = vision.vision_config;
  const colors = 3 * temporal_patch_size * patch_size ** 2;
  const size = hidden / heads;
  const own = (name: string) => weight(`model.visual.${name}`);
  const dense = (x: FloatValue, name: string) => linear(x, own(`${name}.weight`), own(`${name}.bias`));
  const normed = (x: FloatValue, name: string) => rmsNorm(x, own(`${name}.weight`), epsilon);
  const square = shape.spatial_merge_size ** 2;
  const patches = product(["tokens", square]);
  const pixels = graph.input("pixels", "float32", ["tokens", square, colors]);
  const numbers = graph.input("numbers", "int64", [patches, 1]);
  const cosines = graph.input("cosines", "float32", [patches, size / 2]);
  const sines = graph.input("sines", "float32", [patches, size / 2]);
  const windows: Windows = {
    index: graph.input("index", "int64", ["windows", "size"]),
    mask: graph.input("mask", "float32", ["windows", 1, 1, "size"]),
    places: graph.input("places", "int64", [patches]),
  };
  const rotated = (x: FloatValue) =>
    reshape(rotaryEmbedding(reshape(x, [patches, 1, hidden]), numbers, { cosines, sines }, size), [
      patches,
      hidden,
    ]);

  const kernel = reshape(own("patch_embed.proj.weight"), [hidden, colors]);
  let states = linear(reshape(pixels, [patches, colors]), kernel);
  for (let layer = 0; layer < shape.depth; layer++) {
    const parent = `blocks.${layer}`;
    const input = states;
    const within = shape.fullatt_block_indexes.includes(layer) ? undefined : windows;
    states = build(`model.visual.${parent}.`, input, () => {
      const joined = dense(normed(input, `${parent}.norm1`), `${parent}.attn.qkv`);
      const [queries, keys, values] = [0, 1, 2].map((part) =>
        columns(joined, part * hidden, (part + 1) * hidden),
      );
      const attended = attention(rotated(queries!), rotated(keys!), values!, heads, within);
      const middle = add(input, dense(attended, `${parent}.attn.proj`));
      const gated = normed(middle, `${parent}.norm2`);
      const units = swiGlu(dense(gated, `${parent}.mlp.gate_proj`), dense(gated, `${parent}.mlp.up_proj`));
      return add(middle, dense(units, `${parent}.mlp.down_proj`));
    });
  }
  const squares = reshape(normed(states, "merger.ln_q"), ["tokens", square * hidden]);
  return dense(gelu(dense(squares, "merger.mlp.0")), "merger.mlp.2");
}

/** Computes attention of rows [patches, hidden] within windows, or of all to all. */
function attention(
  queries: FloatValue,
  keys: FloatValue,
  values: FloatValue,
  heads: number,
  windows: Windows | undefined,
): FloatValue {
  const [patches, hidden] = queries.shape;
  const size = Number(hidden) / heads;
  const [count, length]: [Dimension, Dimension] = windows ? ["windows", "size"] : [1, patches!];
  const byHead = (x: FloatValue) => {
    const rows = windows ? gather(x, windows.index) : reshape(x, [1, patches!, hidden!]);
    return transpose(reshape(rows, [count, length, heads, size]), [0, 2, 1, 3]);
  };
  const scores = matMul(byHead(queries), byHead(keys), { transposeB: true, alpha: size ** -0.5 });
  const weights = softmax(windows ? add(scores, windows.mask) : scores);
  const seen = transpose(matMul(weights, byHead(values)), [0, 2, 1, 3]);
  const rows = reshape(seen, [product([count, length]), hidden!]);
  return windows ? gather(rows, windows.places) : reshape(rows, [patches!, hidden!]);
}
