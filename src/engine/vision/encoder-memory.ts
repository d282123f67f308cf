import type { ModelConfig } from "../models/config/model-config.ts";
import { type PatchVision, patchesPerSide, type TileVision } from "../models/config/vision-config.ts";
import { visionWeightShapes } from "../models/weights/vision-weights.ts";
import { elementCount } from "../onnx/element-count.ts";
import { createGraph } from "../onnx/graph.ts";
import { peakBytes } from "../onnx/peak-memory.ts";
import { encodedPatches } from "./patch-encoder.ts";
import { encodedTiles, type TileSize, type VisionWeight } from "./tile-encoder.ts";

/** The bytes of embeddings to keep for images that no sequence uses. */
export const keptBytes = 256 * 2 ** 20;

/** Most bytes of attention scores of a layer at a time. */
const scoreBytes = 128 * 2 ** 20;

/** Returns the number of tiles that are encoded in one pass. */
export function tilesAtOnce({ vision_config }: TileVision, { height, width }: TileSize): number {
  const { patch_size: patch, num_attention_heads: heads } = vision_config;
  const patches = Math.floor(height / patch) * Math.floor(width / patch);
  return Math.max(1, Math.floor(scoreBytes / (4 * heads * patches ** 2)));
}

/** The most tokens of an image by default in `transformers`, for Qwen's processor. */
const usualTokens = 1280;

/** The most tiles of an image that SmolVLM's vocabulary has tokens for: six rows of six, and the whole image. */
const mostTiles = 37;

/** How much more the runtime's allocator takes than requested, as in a step's plan. */
const allocated = 1.3;

/**
 * Returns the bytes that a process holds for images, in addition to a model that reads text: the encoder's weights in
 * float32, its largest pass, and embeddings that are kept. Images in patches count as having at most as many tokens as
 * by their processor's default. 0 for a model that reads only text.
 */
export function encoderBytes(config: ModelConfig): number {
  const { vision } = config;
  if (!vision) return 0;
  const shapes = visionWeightShapes(config);
  const weights = [...shapes.values()].reduce((total, shape) => total + 4 * elementCount(shape), 0);
  const graph = createGraph();
  const weight: VisionWeight = (name) => graph.input(name, "float32", shapes.get(name)!);
  const pass = () => {
    if (vision.model_type === "qwen2_5_vl") {
      graph.output("features", encodedPatches(graph, vision, weight));
      return peakBytes(graph, patchSizes(vision));
    }
    const side = patchesPerSide(vision) * vision.vision_config.patch_size;
    const tile = { height: side, width: side };
    graph.output("features", encodedTiles(graph, config, vision, tile, weight));
    return peakBytes(graph, { tiles: Math.min(tilesAtOnce(vision, tile), mostTiles) });
  };
  return weights + Math.ceil(allocated * pass()) + keptBytes;
}

/** Returns the sizes of a pass over the largest image. */
function patchSizes({ vision_config }: PatchVision): Record<string, number> {
  const { patch_size: patch, spatial_merge_size: side, window_size } = vision_config;
  const patches = usualTokens * side ** 2;
  const size = (Math.floor(window_size / side / patch) * side) ** 2;
  return { windows: Math.ceil(patches / size), size, tokens: usualTokens };
}
