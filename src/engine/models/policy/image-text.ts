import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { messageOf } from "../../../base/errors/message-of.ts";
import type { MessageImage } from "../../../contracts/message.ts";
import type { ImageFraming } from "../../tokens/image-framing.ts";
import type { Tokenizer } from "../../tokens/tokenizer.ts";
import { imageLayout, type TileLayout } from "../../vision/preprocess/image-layout.ts";
import { type ImageProcessor, readImageProcessor } from "../../vision/preprocess/image-processor.ts";
import { configError, type ModelConfig } from "../config/model-config.ts";

/**
 * How the model in a folder writes images as tokens; undefined if it reads only text. Throws MODEL_CONFIG_INVALID if
 * the folder of a vision-language model has no image processor.
 */
export async function readImageFraming(
  folder: string,
  { vision }: Pick<ModelConfig, "vision">,
  tokenizer: Pick<Tokenizer, "decode">,
): Promise<ImageFraming | undefined> {
  if (!vision) return undefined;
  const processor = await readImageProcessor(folder);
  if (processor === undefined)
    throw configError(`${folder} has neither processor_config.json nor preprocessor_config.json`);
  const id = vision.image_token_id;
  return imageFraming(processor, { id, text: tokenizer.decode([id]) });
}

/** How a processor's images become tokens, where `token` is the model's image token. */
export function imageFraming(processor: ImageProcessor, token: ImageFraming["token"]): ImageFraming {
  return {
    token,
    expansion(image) {
      const layout = layoutOf(processor, image);
      const text =
        layout.kind === "patches" ? token.text.repeat(layout.tokens) : tilesText(layout, token.text);
      return { text, tokens: layout.tokens };
    },
  };
}

function layoutOf(processor: ImageProcessor, { sha256, width, height }: MessageImage) {
  try {
    if (width !== undefined && height !== undefined) return imageLayout(processor, { width, height });
  } catch (error) {
    throw new EverturnError("IMAGES_NOT_FRAMED", { reason: messageOf(error) }, { cause: error });
  }
  throw new EverturnError("IMAGES_NOT_FRAMED", { reason: `nothing says the size of the image ${sha256}` });
}

/** The text of an image of Idefics3 and SmolVLM: its tiles row by row, then the whole image. */
function tilesText({ rows, columns, tokens }: TileLayout, token: string): string {
  const each = token.repeat(tokens / (rows * columns + 1));
  const edge = "<fake_token_around_image>";
  const lines = Array.from({ length: rows }, (_, row) => {
    const tiles = Array.from({ length: columns }, (_tile, column) => {
      return `${edge}<row_${row + 1}_col_${column + 1}>${each}`;
    });
    return `${tiles.join("")}\n`;
  });
  const whole = `${edge}<global-img>${each}${edge}`;
  return rows === 0 ? whole : `${lines.join("")}\n${whole}`;
}
