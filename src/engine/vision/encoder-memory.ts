import type { ModelConfig } from "../models/config/model-config.ts";
import { type PatchVision, patchesPerSide, type VisionConfig } from "../models/config/vision-config.ts";
import { visionWeightShapes } from "../models/weights/vision-weights.ts";
import { elementCount } from "../onnx/element-count.ts";
import { createGraph } from "../onnx/graph.ts";
import { peakBytes } from "../onnx/peak-memory.ts";
import { buildGradients } from "./encoder-gradients.ts";
import { type ImagePasses, tilesAtOnce } from "./image-passes.ts";
import { encodedPatches } from "./patch-encoder.ts";
import { encodedTiles } from "./tile-encoder.ts";

/** The bytes of embeddings to keep for images that no sequence uses. */
export const keptBytes = 256 * 2 ** 20;

/** The most tokens of an image by default in `transformers`, for Qwen's processor. */
const usualTokens = 1280;

/** The most tiles of an image that SmolVLM's vocabulary has tokens for: six rows of six, and the whole image. */
const mostTiles = 37;

/** How much more the runtime's allocator takes than requested, as in a step's plan. */
const allocated = 1.3;

/** Returns the bytes of a vision part's weights in float32; 0 for a model that reads only text. */
export function visionBytes(config: ModelConfig): number {
  return [...visionWeightShapes(config).values()].reduce(
    (total, shape) => total + 4 * elementCount(shape),
    0,
  );
}

/**
 * Returns the bytes that a process holds for images, in addition to a model that reads text: the encoder's weights in
 * float32, its largest pass, and embeddings that are kept. Images in patches count as having at most as many tokens as
 * by their processor's default. 0 for a model that reads only text.
 */
export function encoderBytes(config: ModelConfig): number {
  const { vision } = config;
  if (!vision) return 0;
  const graph = createGraph();
  const { build, sizes } = largestPass(config, vision);
  const shapes = visionWeightShapes(config);
  graph.output(
    "features",
    build(graph, (name) => graph.input(name, "float32", shapes.get(name)!)),
  );
  return visionBytes(config) + Math.ceil(allocated * peakBytes(graph, sizes)) + keptBytes;
}

/**
 * Returns the bytes that a trainer of the vision part holds in addition to `encoderBytes`, its parameters and their
 * moments: the largest backward pass, the sum of the gradients, and the reference's embeddings that are kept.
 */
export function trainedEncoderBytes(config: ModelConfig): number {
  const { vision } = config;
  if (!vision) return 0;
  const graph = createGraph();
  const largest = largestPass(config, vision);
  buildGradients(graph, largest, visionWeightShapes(config));
  return visionBytes(config) + Math.ceil(allocated * peakBytes(graph, largest.sizes)) + keptBytes;
}

/** Returns the pass over the largest image, or over the most of its tiles. */
function largestPass(
  config: ModelConfig,
  vision: VisionConfig,
): Pick<ImagePasses, "build"> & { sizes: Record<string, number> } {
  if (vision.model_type === "qwen2_5_vl")
    return {
      build: (graph, ...weights) => encodedPatches(graph, vision, ...weights),
      sizes: patchSizes(vision),
    };
  const side = patchesPerSide(vision) * vision.vision_config.patch_size;
  const tile = { height: side, width: side };
  return {
    build: (graph, ...weights) => encodedTiles(graph, config, vision, tile, ...weights),
    sizes: { tiles: Math.min(tilesAtOnce(vision, tile), mostTiles) },
  };
}

/** Returns the sizes of a pass over the largest image. */
function patchSizes({ vision_config }: PatchVision): Record<string, number> {
  const { patch_size: patch, spatial_merge_size: side, window_size } = vision_config;
  const patches = usualTokens * side ** 2;
  const size = (Math.floor(window_size / side / patch) * side) ** 2;
  return { windows: Math.ceil(patches / size), size, tokens: usualTokens };
}
