import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { PatchVision, TileVision, VisionConfig } from "../models/config/vision-config.ts";
import type { FloatValue, Graph } from "../onnx/graph.ts";
import type { Tensor } from "../onnx/model-session.ts";
import { encodedPatches } from "./patch-encoder.ts";
import { patchFeeds } from "./patch-windows.ts";
import type { ImagePatches, ImageTiles, PreprocessedImage } from "./preprocessed-image.ts";
import { type BuildLayer, encodedTiles, type TileSize, type VisionWeight } from "./tile-encoder.ts";

/** A pass over an image, or over some of its tiles. */
export interface ImagePass {
  feeds: Record<string, Tensor>;
  /** The number of image tokens that it encodes. */
  tokens: number;
}

/** How an encoder reads an image. */
export interface ImagePasses {
  /** The same for all images that one graph encodes. */
  key: string;
  /** Adds the encoder to a graph. Returns embeddings, [tokens, hidden size]. */
  build(graph: Graph, weight: VisionWeight, layer?: BuildLayer): FloatValue;
  passes: ImagePass[];
}

/**
 * Returns the passes over an image, in bounded memory. Throws IMAGE_NOT_ENCODED for an image that was not prepared for
 * the model.
 */
export function imagePasses(
  config: ModelConfig,
  vision: VisionConfig,
  image: PreprocessedImage,
): ImagePasses {
  const isPatches = vision.model_type === "qwen2_5_vl";
  const problem = isPatches ? patchProblem(image, vision) : tileProblem(image, vision);
  if (problem !== undefined) throw notEncoded(problem);
  if (isPatches && image.kind === "patches") return patchPasses(vision, image);
  if (!isPatches && image.kind === "tiles") return tilePasses(config, vision, image);
  throw notEncoded(`it is in ${image.kind}`);
}

function patchPasses(vision: PatchVision, image: ImagePatches): ImagePasses {
  const { pixels, tokens } = image;
  const square = vision.vision_config.spatial_merge_size ** 2;
  const shape = [tokens, square, pixels.length / tokens / square];
  const feeds = { pixels: { shape, data: pixels }, ...patchFeeds(vision, image) };
  return {
    key: "patches",
    build: (graph, ...weights) => encodedPatches(graph, vision, ...weights),
    passes: [{ feeds, tokens }],
  };
}

function tilePasses(config: ModelConfig, vision: TileVision, image: ImageTiles): ImagePasses {
  const { height, width, tiles, pixels, tokens } = image;
  const atOnce = tilesAtOnce(vision, image);
  const ofTile = 3 * height * width;
  const passes = Array.from({ length: Math.ceil(tiles / atOnce) }, (_, number): ImagePass => {
    const start = number * atOnce;
    const count = Math.min(atOnce, tiles - start);
    const data = pixels.subarray(start * ofTile, (start + count) * ofTile);
    const feeds = { pixels: { shape: [count, 3, height, width], data } };
    return { feeds, tokens: (tokens / tiles) * count };
  });
  return {
    key: `${height}x${width}`,
    build: (graph, ...weights) => encodedTiles(graph, config, vision, { height, width }, ...weights),
    passes,
  };
}

/** Most bytes of attention scores of a layer at a time. */
const scoreBytes = 128 * 2 ** 20;

/** Returns the number of tiles that are encoded in one pass. */
export function tilesAtOnce({ vision_config }: TileVision, { height, width }: TileSize): number {
  const { patch_size: patch, num_attention_heads: heads } = vision_config;
  const patches = Math.floor(height / patch) * Math.floor(width / patch);
  return Math.max(1, Math.floor(scoreBytes / (4 * heads * patches ** 2)));
}

function notEncoded(reason: string): EverturnError {
  return new EverturnError("IMAGE_NOT_ENCODED", { reason });
}

/** Returns why an image does not fit a model; undefined if it does. */
function tileProblem(image: PreprocessedImage, vision: TileVision): string | undefined {
  if (image.kind !== "tiles") return `it is in ${image.kind}, but a ${vision.model_type} model reads tiles`;
  const { height, width, tiles, pixels, tokens } = image;
  const side = vision.vision_config.patch_size * vision.scale_factor;
  if (height % side !== 0 || width % side !== 0)
    return `its tiles of ${width} × ${height} pixels are not multiples of ${side} pixels`;
  const expected = (tiles * height * width) / side ** 2;
  if (pixels.length !== tiles * 3 * height * width)
    return `it has ${pixels.length} colors for ${tiles} tiles`;
  return tokens === expected ? undefined : `it takes ${tokens} tokens, but its tiles have ${expected}`;
}

function patchProblem(image: PreprocessedImage, vision: PatchVision): string | undefined {
  if (image.kind !== "patches")
    return `it is in ${image.kind}, but a ${vision.model_type} model reads patches`;
  const { grid, pixels, tokens } = image;
  const { patch_size, temporal_patch_size, spatial_merge_size: side } = vision.vision_config;
  const [time, height, width] = grid;
  if (time !== 1) return "it has several frames, and videos are not read";
  if (height % side !== 0 || width % side !== 0)
    return `its ${width} × ${height} patches don't divide into squares of ${side}`;
  const colors = height * width * 3 * temporal_patch_size * patch_size ** 2;
  if (pixels.length !== colors) return `it has ${pixels.length} colors, but its patches have ${colors}`;
  const expected = (height * width) / side ** 2;
  return tokens === expected ? undefined : `it takes ${tokens} tokens, but its patches have ${expected}`;
}
