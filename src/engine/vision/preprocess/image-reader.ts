import { createRequire } from "node:module";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { helperProcesses } from "../../../base/processes/helper-processes.ts";
import { ownModule } from "../../../base/processes/own-module.ts";
import type { PreprocessedImage } from "../preprocessed-image.ts";
import type { DecodedImage, DecodeRequest } from "./decode-process.ts";
import { type ImageLayout, imageLayout } from "./image-layout.ts";
import type { ImageProcessor } from "./image-processor.ts";
import { normalized } from "./normalized.ts";
import type { PictureSize } from "./picture.ts";

/** The most pixels that an image may have. */
const mostPixels = 2 ** 26;
/** Seconds to decode and resize an image. */
const time = 60;
/** The maximum MiB of a process that decodes images. */
const memory = 1536;
/** The most bytes of resized images to keep. */
const mostKept = 2 ** 28;

/** An image's upright size in pixels, and how the model divides it. */
export interface ReadImage extends PictureSize {
  layout: ImageLayout;
}

/** Reads images for a model. It keeps the images that were read last. */
export interface ImageReader {
  /**
   * Decodes an image, and returns its size and layout. `bytes` reads the image. Throws an error that explains why the
   * model can't read it.
   */
  look(sha256: string, bytes: () => Promise<Uint8Array>): Promise<ReadImage>;
  /** Returns the input of the vision encoder. Throws the same errors. */
  pixels(sha256: string, bytes: () => Promise<Uint8Array>): Promise<PreprocessedImage>;
}

const decode = helperProcesses<DecodeRequest, DecodedImage>(
  ownModule("src/engine/vision/preprocess/decode-process"),
  { memory },
);

/** Throws IMAGE_DECODER_MISSING unless the package that decodes images is installed. */
export function requireImageDecoder(): void {
  try {
    createRequire(import.meta.url).resolve("sharp");
  } catch (cause) {
    throw new EverturnError("IMAGE_DECODER_MISSING", { missing: "sharp" }, { cause });
  }
}

/** Opens a reader of images for a model's processor. Throws IMAGE_DECODER_MISSING. */
export function openImageReader(processor: ImageProcessor): ImageReader {
  requireImageDecoder();
  /** By recency of use, the latest last. */
  const kept = new Map<string, Promise<DecodedImage>>();
  const sizes = new Map<string, number>();
  let held = 0;

  const forget = (sha256: string) => {
    kept.delete(sha256);
    held -= sizes.get(sha256) ?? 0;
    sizes.delete(sha256);
  };

  const decoded = async (sha256: string, bytes: () => Promise<Uint8Array>): Promise<DecodedImage> => {
    const known = kept.get(sha256);
    if (known !== undefined) {
      kept.delete(sha256);
      kept.set(sha256, known);
      return known;
    }
    const made = bytes().then((data) =>
      decode({ data, processor, pixels: mostPixels }, { time, signal: new AbortController().signal }),
    );
    kept.set(sha256, made);
    try {
      const { pictures } = await made;
      const size = pictures.reduce((sum, { levels }) => sum + levels.length, 0);
      sizes.set(sha256, size);
      held += size;
      for (const oldest of kept.keys()) {
        if (held <= mostKept || oldest === sha256) break;
        forget(oldest);
      }
      return await made;
    } catch (error) {
      forget(sha256);
      throw error;
    }
  };

  return {
    look: async (sha256, bytes) => {
      const { size } = await decoded(sha256, bytes);
      return { ...size, layout: imageLayout(processor, size) };
    },
    pixels: async (sha256, bytes) => {
      const { size, pictures } = await decoded(sha256, bytes);
      return normalized(processor, size, pictures);
    },
  };
}
