import { EverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { PatchVision, TileVision, VisionConfig } from "../models/config/vision-config.ts";
import { weightConstant } from "../models/weights/stored-constant.ts";
import type { WeightSources } from "../models/weights/weight-sources.ts";
import { createModelSession } from "../onnx/create-model-session.ts";
import { createGraph, type FloatValue, type Graph } from "../onnx/graph.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { ModelSession } from "../onnx/model-session.ts";
import { tilesAtOnce } from "./encoder-memory.ts";
import { encodedPatches } from "./patch-encoder.ts";
import { patchFeeds } from "./patch-windows.ts";
import type { ImagePatches, ImageTiles, PreprocessedImage } from "./preprocessed-image.ts";
import { encodedTiles, type VisionWeight } from "./tile-encoder.ts";

/** The encoder and the connector of a vision-language model. */
export interface ImageEncoder {
  /**
   * Returns an image's embeddings, [tokens, hidden size]. Throws IMAGE_NOT_ENCODED for an image that was not prepared
   * for this model, and ONNX_RUN_FAILED.
   */
  encode(image: PreprocessedImage): Promise<Float32Array>;
  /** Frees the model. */
  close(): Promise<void>;
}

/** Creates an encoder from its weights. Models are built at their first use, one for each size of tiles. */
export function createImageEncoder(
  config: ModelConfig,
  vision: VisionConfig,
  { folder: weightsFolder, tensors }: Pick<WeightSources, "folder" | "tensors">,
  { threads = 2 }: { threads?: number } = {},
): ImageEncoder {
  const sessions = new Map<string, Promise<ModelSession>>();

  const sessionFor = (key: string, build: (graph: Graph, weight: VisionWeight) => FloatValue) => {
    const known = sessions.get(key);
    if (known) return known;
    const graph = createGraph();
    const weight = (name: string) => weightConstant(graph, tensors.get(name)!);
    graph.output("features", build(graph, weight));
    const made = createModelSession(modelBytes(graph), defined({ threads, weightsFolder }));
    sessions.set(key, made);
    return made;
  };

  const encodePatches = async (image: ImagePatches, own: PatchVision) => {
    const session = await sessionFor("", (graph, weight) => encodedPatches(graph, config, own, weight));
    const { pixels, grid } = image;
    const patches = grid[0] * grid[1] * grid[2];
    const shape = [patches, pixels.length / patches];
    const outputs = await session.run({ pixels: { shape, data: pixels }, ...patchFeeds(own, image) });
    const features = outputs.floats("features").slice();
    outputs.release();
    return features;
  };

  const encodeTiles = async (image: ImageTiles, own: TileVision) => {
    const { height, width, tiles, pixels } = image;
    const session = await sessionFor(`${height}x${width}`, (graph, weight) =>
      encodedTiles(graph, config, own, { height, width }, weight),
    );
    const atOnce = tilesAtOnce(own, image);
    const ofTile = 3 * height * width;
    const features = new Float32Array(image.tokens * config.hidden_size);
    let at = 0;
    for (let start = 0; start < tiles; start += atOnce) {
      const count = Math.min(atOnce, tiles - start);
      const data = pixels.subarray(start * ofTile, (start + count) * ofTile);
      const outputs = await session.run({ pixels: { shape: [count, 3, height, width], data } });
      const part = outputs.floats("features");
      features.set(part, at);
      at += part.length;
      outputs.release();
    }
    return features;
  };

  return {
    async encode(image) {
      const isPatches = vision.model_type === "qwen2_5_vl";
      const problem = isPatches ? patchProblem(image, vision) : tileProblem(image, vision);
      if (problem !== undefined) throw notEncoded(problem);
      if (isPatches && image.kind === "patches") return encodePatches(image, vision);
      if (!isPatches && image.kind === "tiles") return encodeTiles(image, vision);
      throw notEncoded(`it is in ${image.kind}`);
    },
    async close() {
      for (const session of sessions.values()) await (await session).close();
    },
  };
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
