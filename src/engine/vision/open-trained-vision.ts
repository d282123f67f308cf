import type { ModelConfig } from "../models/config/model-config.ts";
import { openEncoder, openProcessor, type Vision, visionOf } from "./open-vision.ts";
import { createTrainedImages, type TrainedImages } from "./trained-images.ts";

/** A vision part that is trained. */
export interface TrainedVision extends Vision {
  /** Its images, for the trainer. */
  readonly images: TrainedImages;
}

/**
 * Opens a vision part whose weights are those of a trainer's state, with the processor of the model in a folder;
 * undefined for a model that reads only text. `reference` is the folder of the reference. Throws MODEL_CONFIG_INVALID
 * and IMAGE_DECODER_MISSING.
 */
export async function openTrainedVision(
  folder: string,
  config: ModelConfig,
  state: Parameters<typeof createTrainedImages>[2],
  { reference = folder, threads = 2 }: { reference?: string | undefined; threads?: number } = {},
): Promise<TrainedVision | undefined> {
  const { vision } = config;
  if (!vision) return undefined;
  const reader = await openProcessor(folder);
  const openReference = () => openEncoder(reference, config, vision, threads);
  const images = createTrainedImages(config, vision, state, openReference, threads);
  return { ...visionOf(images.table, reader, images.close), images };
}
