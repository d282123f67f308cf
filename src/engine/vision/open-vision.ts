import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ImageEmbeddings, PlacedImage } from "../../contracts/image-tokens.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import type { VisionConfig } from "../models/config/vision-config.ts";
import { checkShapes } from "../models/weights/model-weights.ts";
import { visionWeightShapes } from "../models/weights/vision-weights.ts";
import { visionSources } from "../models/weights/weight-sources.ts";
import { createImageTable, type ImageTable, type PlacedTokens } from "./image-table.ts";
import { createImageEncoder, type ImageEncoder } from "./open-image-encoder.ts";
import { readImageProcessor } from "./preprocess/image-processor.ts";
import { type ImageReader, openImageReader } from "./preprocess/image-reader.ts";

/** Returns the bytes of an image by its SHA-256. */
export type ReadImageBytes = (sha256: string) => Promise<Uint8Array>;

/** The vision part of a policy: it prepares and encodes images. */
export interface Vision {
  /** The embeddings of the ids that `place` gives. */
  readonly embeddings: ImageEmbeddings;
  /**
   * Gives the tokens of images ids of their own, from the size of the vocabulary on. Throws IMAGE_TOKENS_INVALID, and
   * errors that explain why an image can't be read.
   */
  place(
    tokens: readonly number[],
    images: readonly PlacedImage[],
    readImage: ReadImageBytes | undefined,
  ): Promise<PlacedTokens>;
  /** Frees the encoder. */
  close(): Promise<void>;
}

/**
 * Opens the frozen vision part of the model in a folder with its processor; undefined for a model that reads only text.
 * Throws MODEL_WEIGHTS_MISMATCH, MODEL_CONFIG_INVALID, IMAGE_DECODER_MISSING and the errors of the weights' format.
 */
export async function openVision(
  folder: string,
  config: ModelConfig,
  { threads = 2 }: { threads?: number | undefined } = {},
): Promise<Vision | undefined> {
  const { vision } = config;
  if (!vision) return undefined;
  const reader = await openProcessor(folder);
  const encoder = await openEncoder(folder, config, vision, threads);
  return visionOf(createImageTable(encoder, config, vision), reader, encoder.close);
}

/** Opens a reader of images for the processor of a model's folder. Throws MODEL_CONFIG_INVALID, IMAGE_DECODER_MISSING. */
export async function openProcessor(folder: string): Promise<ImageReader> {
  const processor = await readImageProcessor(folder);
  if (processor) return openImageReader(processor);
  const reason = `${folder} has neither processor_config.json nor preprocessor_config.json`;
  throw new EverturnError("MODEL_CONFIG_INVALID", { reason });
}

/** Opens the encoder in a model's folder. Throws MODEL_WEIGHTS_MISMATCH and the errors of the weights' format. */
export async function openEncoder(
  folder: string,
  config: ModelConfig,
  vision: VisionConfig,
  threads: number,
): Promise<ImageEncoder> {
  const weights = await visionSources(folder);
  checkShapes(visionWeightShapes(config), weights.tensors);
  return createImageEncoder(config, vision, weights, { threads });
}

/** Returns the vision part of a table of images that a reader prepares. */
export function visionOf(table: ImageTable, reader: ImageReader, close: () => Promise<void>): Vision {
  return {
    embeddings: table,
    place: (tokens, images, readImage) =>
      table.replace(tokens, images, (sha256) => {
        if (readImage) return reader.pixels(sha256, () => readImage(sha256));
        throw new EverturnError("IMAGE_TOKENS_INVALID", { reason: `nothing can read the image ${sha256}` });
      }),
    close,
  };
}
