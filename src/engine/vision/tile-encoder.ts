import type { ModelConfig } from "../models/config/model-config.ts";
import { patchesPerSide, type TileVision } from "../models/config/vision-config.ts";
import { product } from "../onnx/dimensions.ts";
import { add } from "../onnx/elementwise.ts";
import { gelu, geluTanh } from "../onnx/gelu.ts";
import type { FloatValue, Graph } from "../onnx/graph.ts";
import { gather } from "../onnx/indexing.ts";
import { layerNorm } from "../onnx/layer-norm.ts";
import { linear, matMul } from "../onnx/linear-algebra.ts";
import { softmax } from "../onnx/reductions.ts";
import { reshape, transpose } from "../onnx/shaping.ts";

/** Returns a weight of the vision part by its name. */
export type VisionWeight = (name: string) => FloatValue;

/**
 * Builds a layer from its input. `prefix` begins the names of its weights. A backward pass may recompute the layer
 * instead of keeping its values.
 */
export type BuildLayer = (prefix: string, input: FloatValue, layer: () => FloatValue) => FloatValue;

/** Builds a layer whose values a backward pass keeps. */
export const keptLayer: BuildLayer = (_, _input, layer) => layer();

/** The height and width of tiles in pixels. */
export interface TileSize {
  height: number;
  width: number;
}

/**
 * Builds the encoder and the connector of Idefics3 and SmolVLM: a SigLIP transformer (arXiv 2303.15343) over the patches
 * of each tile, whose outputs are joined in squares and projected. The input is `pixels` [tiles, 3, height, width].
 * Returns embeddings for the language part, [tiles · tokens, hidden size].
 */
export function encodedTiles(
  graph: Graph,
  { hidden_size: output }: ModelConfig,
  vision: TileVision,
  { height, width }: TileSize,
  weight: VisionWeight,
  build = keptLayer,
): FloatValue {
  const { hidden_size: hidden, patch_size: patch, ...shape } = vision.vision_config;
  const { num_attention_heads: heads, layer_norm_eps: epsilon } = shape;
  const activation = shape.hidden_act === "gelu" ? gelu : geluTanh;
  const own = (name: string) => weight(`model.vision_model.${name}`);
  const dense = (x: FloatValue, name: string) => linear(x, own(`${name}.weight`), own(`${name}.bias`));
  const normed = (x: FloatValue, name: string) =>
    layerNorm(x, own(`${name}.weight`), own(`${name}.bias`), epsilon);

  const [down, across] = [Math.floor(height / patch), Math.floor(width / patch)];
  const patches = down * across;
  const rows = product(["tiles", patches]);
  const pixels = graph.input("pixels", "float32", ["tiles", 3, height, width]);
  const apart = reshape(pixels, ["tiles", 3, down, patch, across, patch]);
  const flat = reshape(transpose(apart, [0, 2, 4, 1, 3, 5]), [rows, 3 * patch * patch]);
  const kernel = reshape(own("embeddings.patch_embedding.weight"), [hidden, 3 * patch * patch]);
  const places = graph.ints(tilePositions(vision, down, across));
  const positions = gather(own("embeddings.position_embedding.weight"), places);
  const embedded = linear(flat, kernel, own("embeddings.patch_embedding.bias"));
  let states = reshape(add(reshape(embedded, ["tiles", patches, hidden]), positions), [rows, hidden]);
  const byHead = (x: FloatValue) =>
    transpose(reshape(x, ["tiles", patches, heads, hidden / heads]), [0, 2, 1, 3]);
  const attended = (input: FloatValue, parent: string) => {
    const part = (name: string) => byHead(dense(input, `${parent}.self_attn.${name}`));
    const scale = 1 / Math.sqrt(hidden / heads);
    const scores = matMul(part("q_proj"), part("k_proj"), { transposeB: true, alpha: scale });
    const seen = matMul(softmax(scores), part("v_proj"));
    return reshape(transpose(seen, [0, 2, 1, 3]), [rows, hidden]);
  };
  for (let layer = 0; layer < shape.num_hidden_layers; layer++) {
    const parent = `encoder.layers.${layer}`;
    const input = states;
    states = build(`model.vision_model.${parent}.`, input, () => {
      const joined = attended(normed(input, `${parent}.layer_norm1`), parent);
      const middle = add(input, dense(joined, `${parent}.self_attn.out_proj`));
      const inner = activation(dense(normed(middle, `${parent}.layer_norm2`), `${parent}.mlp.fc1`));
      return add(middle, dense(inner, `${parent}.mlp.fc2`));
    });
  }
  const encoded = normed(states, "post_layernorm");
  const { scale_factor: side } = vision;
  const squares = reshape(encoded, ["tiles", down / side, side, across / side, side, hidden]);
  const tokens = product(["tiles", patches / side ** 2]);
  const joined = reshape(transpose(squares, [0, 1, 3, 2, 4, 5]), [tokens, side * side * hidden]);
  return reshape(linear(joined, weight("model.connector.modality_projection.proj.weight")), [tokens, output]);
}

/**
 * Returns the learned position of each patch. Tiles of other sizes spread over the learned ones, in float32 like in
 * `transformers`.
 */
export function tilePositions(vision: TileVision, down: number, across: number): number[] {
  const side = patchesPerSide(vision);
  const boundaries = Array.from({ length: side - 1 }, (_, at) => Math.fround((at + 1) / side));
  const buckets = (count: number) =>
    Array.from({ length: count }, (_, at) => {
      const coordinate = Math.fround(at * Math.fround(1 / count));
      return boundaries.filter((boundary) => boundary <= Math.min(coordinate, Math.fround(1 - 1e-6))).length;
    });
  const columns = buckets(across);
  return buckets(down).flatMap((row) => columns.map((column) => row * side + column));
}
