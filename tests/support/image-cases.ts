import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageProcessor } from "../../src/engine/vision/preprocess/image-processor.ts";
import { parseImageProcessor } from "../../src/engine/vision/preprocess/image-processor.ts";
import type { PreprocessedImage } from "../../src/engine/vision/preprocessed-image.ts";

/** What transformers made of an image. */
export interface MadeImage {
  /** For tiles: the text of the image, with `*` for the image tokens of a tile, and short names of the other tokens. */
  text?: string;
  tiles?: number;
  grid?: [number, number, number];
  imageTokens: number;
  /** How many numbers the result has, and their mean. */
  numbers: number;
  mean: number;
  /** Levels of some of the numbers, in base64. */
  levels: string;
}

export interface ImageCase {
  image: string;
  width: number;
  height: number;
  made: Record<string, MadeImage>;
}

interface ImageCases {
  processors: Record<string, Record<string, unknown>>;
  imageTokens: Record<string, number>;
  samples: number;
  cases: ImageCase[];
}

const folder = join(import.meta.dirname, "..", "fixtures", "images");

/** The fixtures of scripts/make-image-fixtures.py. */
export const imageCases: ImageCases = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));

export function imageFile(name: string): Uint8Array {
  return readFileSync(join(folder, name));
}

/** The processors of the fixtures, by name. */
export const imageProcessors: ReadonlyMap<string, ImageProcessor> = new Map(
  Object.entries(imageCases.processors).map(([name, settings]) => {
    const kind = name.startsWith("smolvlm") ? "SmolVLMImageProcessor" : "Qwen2VLImageProcessor";
    const whole = name in imageCases.imageTokens ? { image_seq_len: imageCases.imageTokens[name] } : {};
    return [name, parseImageProcessor({ image_processor_type: kind, ...settings }, whole, name)];
  }),
);

/** The largest difference between an image and what transformers made of it, in levels of 255. */
export function levelDifference(
  processor: ImageProcessor,
  image: PreprocessedImage,
  made: MadeImage,
): number {
  const { pixels } = image;
  if (pixels.length !== made.numbers) return 255;
  const plane =
    image.kind === "tiles"
      ? image.width * image.height
      : pixels.length / (image.grid[0] * image.grid[1] * image.grid[2]) / 3;
  let largest = 0;
  Buffer.from(made.levels, "base64").forEach((level, sample) => {
    const at = (sample * 7919) % pixels.length;
    const color = Math.floor(at / plane) % 3;
    const ours = ((pixels[at] ?? 0) * (processor.deviation[color] ?? 1) + (processor.mean[color] ?? 0)) * 255;
    largest = Math.max(largest, Math.abs(ours - level));
  });
  return largest;
}
