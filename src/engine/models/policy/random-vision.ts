import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { persistently } from "../../../base/files/persistently.ts";
import type { JsonObject } from "../../../contracts/json.ts";
import { type ImageProcessor, parseImageProcessor } from "../../vision/preprocess/image-processor.ts";

/** The text of the token that images take in SmolVLM's vocabulary. */
export const imageToken = "<image>";

/**
 * Returns the config.json of a SmolVLM with random weights, from that of its language part and
 * `policy.config.architecture.vision`.
 */
export function withVision(language: JsonObject, vision: JsonObject, imageTokenId: number): JsonObject {
  const { scale_factor = 2, longest_edge: _, ...encoder } = vision;
  return {
    model_type: "smolvlm",
    image_token_id: imageTokenId,
    scale_factor,
    tie_word_embeddings: language.tie_word_embeddings ?? false,
    text_config: language,
    vision_config: encoder,
  };
}

/** The image processor of a vision part with random weights. */
export function randomImageProcessor(vision: JsonObject): ImageProcessor {
  const { image, whole } = processorFiles(vision);
  return parseImageProcessor(image, whole, "architecture.vision");
}

/** Writes the files of SmolVLM's processor for a vision part with random weights. */
export async function writeImageProcessor(folder: string, vision: JsonObject): Promise<void> {
  const { image, whole } = processorFiles(vision);
  const files = { "preprocessor_config.json": image, "processor_config.json": whole };
  for (const [name, json] of Object.entries(files))
    await persistently(() => writeFile(join(folder, name), `${JSON.stringify(json, null, 2)}\n`));
}

function processorFiles(vision: JsonObject): { image: JsonObject; whole: JsonObject } {
  const { image_size, patch_size, scale_factor = 2, longest_edge = image_size } = vision;
  const side = Number(image_size) / Number(patch_size) / Number(scale_factor);
  const image: JsonObject = {
    image_processor_type: "SmolVLMImageProcessor",
    do_convert_rgb: true,
    do_resize: true,
    size: { longest_edge },
    do_image_splitting: Number(longest_edge) > Number(image_size),
    max_image_size: { longest_edge: image_size },
    do_rescale: true,
    rescale_factor: 1 / 255,
    do_normalize: true,
    image_mean: [0.5, 0.5, 0.5],
    image_std: [0.5, 0.5, 0.5],
    do_pad: true,
    resample: 1,
  };
  const whole = { processor_class: "SmolVLMProcessor", image_seq_len: side ** 2 };
  return { image, whole };
}
