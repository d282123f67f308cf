import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { VisionConfig } from "../models/config/vision-config.ts";
import type { Tensor } from "../models/weights/safetensors.ts";
import { createModelSession } from "../onnx/create-model-session.ts";
import { createGraph } from "../onnx/graph.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import type { ModelSession } from "../onnx/model-session.ts";
import type { ImageTiles, PreprocessedImage } from "./preprocessed-image.ts";
import { encodedTiles } from "./tile-encoder.ts";

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

/** Most bytes of attention scores of a layer at a time. */
const scoreBytes = 128 * 2 ** 20;

/** Creates an encoder from its weights. Models are built at their first use, one for each size of tiles. */
export function createImageEncoder(
  config: ModelConfig,
  vision: VisionConfig,
  weights: ReadonlyMap<string, Tensor>,
  { threads = 2 }: { threads?: number } = {},
): ImageEncoder {
  const { patch_size: patch, num_attention_heads: heads } = vision.vision_config;
  const sessions = new Map<string, Promise<ModelSession>>();

  const sessionFor = ({ height, width }: ImageTiles) => {
    const key = `${height}x${width}`;
    const known = sessions.get(key);
    if (known) return known;
    const graph = createGraph();
    const weight = (name: string) => {
      const { data, shape } = weights.get(name)!;
      return graph.floats(data, shape);
    };
    graph.output("features", encodedTiles(graph, config, vision, { height, width }, weight));
    const made = createModelSession(modelBytes(graph), { threads });
    sessions.set(key, made);
    return made;
  };

  return {
    async encode(image) {
      checkImage(image, vision);
      const session = await sessionFor(image);
      const { height, width, tiles, pixels } = image;
      const patches = Math.floor(height / patch) * Math.floor(width / patch);
      const atOnce = Math.max(1, Math.floor(scoreBytes / (4 * heads * patches ** 2)));
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
    },
    async close() {
      for (const session of sessions.values()) await (await session).close();
    },
  };
}

/** Throws IMAGE_NOT_ENCODED unless an image fits a model. */
function checkImage(image: PreprocessedImage, vision: VisionConfig): asserts image is ImageTiles {
  const problem = problemOf(image, vision);
  if (problem !== undefined) throw new EverturnError("IMAGE_NOT_ENCODED", { reason: problem });
}

/** Returns why an image does not fit a model; undefined if it does. */
function problemOf(image: PreprocessedImage, vision: VisionConfig): string | undefined {
  if (image.kind !== "tiles") return `it is in ${image.kind}, but a ${vision.model_type} model reads tiles`;
  const { height, width, tiles, pixels, tokens } = image;
  const { patch_size: patch } = vision.vision_config;
  const side = patch * vision.scale_factor;
  if (height % side !== 0 || width % side !== 0)
    return `its tiles of ${width} × ${height} pixels are not multiples of ${side} pixels`;
  const expected = (tiles * height * width) / side ** 2;
  if (pixels.length !== tiles * 3 * height * width)
    return `it has ${pixels.length} colors for ${tiles} tiles`;
  return tokens === expected ? undefined : `it takes ${tokens} tokens, but its tiles have ${expected}`;
}
