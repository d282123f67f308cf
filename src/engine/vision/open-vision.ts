import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { ImageEmbeddings, PlacedImage } from "../../contracts/image-tokens.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import { checkShapes } from "../models/weights/model-weights.ts";
import { visionWeightShapes } from "../models/weights/vision-weights.ts";
import { visionSources } from "../models/weights/weight-sources.ts";
import { createImageTable, type PlacedTokens } from "./image-table.ts";
import { createImageEncoder } from "./open-image-encoder.ts";
import { readImageProcessor } from "./preprocess/image-processor.ts";
import { openImageReader } from "./preprocess/image-reader.ts";

/** Returns the bytes of an image by its SHA-256. */
type ReadImage = (sha256: string) => Promise<Uint8Array>;

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
    readImage: ReadImage | undefined,
  ): Promise<PlacedTokens>;
  /** Decodes an image, and returns its upright size. Throws an error that explains why it can't be read. */
  measure(sha256: string, read: () => Promise<Uint8Array>): Promise<{ width: number; height: number }>;
  /** Frees the encoder. */
  close(): Promise<void>;
}

/**
 * Opens the vision part of the model in a folder with its processor; undefined for a model that reads only text. Throws
 * MODEL_WEIGHTS_MISMATCH, MODEL_CONFIG_INVALID, IMAGE_DECODER_MISSING and the errors of the weights' format.
 */
export async function openVision(
  folder: string,
  config: ModelConfig,
  { threads = 2 }: { threads?: number | undefined } = {},
): Promise<Vision | undefined> {
  const { vision } = config;
  if (!vision) return undefined;
  const processor = await readImageProcessor(folder);
  if (!processor) {
    const reason = `${folder} has neither processor_config.json nor preprocessor_config.json`;
    throw new EverturnError("MODEL_CONFIG_INVALID", { reason });
  }
  const weights = await visionSources(folder);
  checkShapes(visionWeightShapes(config), weights.tensors);
  const reader = openImageReader(processor);
  const encoder = createImageEncoder(config, vision, weights, { threads });
  const table = createImageTable(encoder, config, vision);
  return {
    embeddings: table,
    place: (tokens, images, readImage) =>
      table.replace(tokens, images, (sha256) => {
        if (readImage) return reader.pixels(sha256, () => readImage(sha256));
        throw new EverturnError("IMAGE_TOKENS_INVALID", { reason: `nothing can read the image ${sha256}` });
      }),
    measure: async (sha256, read) => {
      const { width, height } = await reader.look(sha256, read);
      return { width, height };
    },
    close: encoder.close,
  };
}
