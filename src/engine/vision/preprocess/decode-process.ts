import sharp from "sharp";
import { messageOf } from "../../../base/errors/message-of.ts";
import { decodePicture } from "./decode-picture.ts";
import type { ImageProcessor } from "./image-processor.ts";
import type { Picture, PictureSize } from "./picture.ts";
import { resizedPictures } from "./resized-pictures.ts";

// Runs in a process that decodes and resizes images, one at a time. A file crafted to break a decoder can end
// only this process.

/** An image to decode and resize. */
export interface DecodeRequest {
  data: Uint8Array;
  processor: ImageProcessor;
  /** The most pixels that the image may have. */
  pixels: number;
}

/** An image as its processor resized it, and the upright size that it had before. */
export interface DecodedImage {
  size: PictureSize;
  pictures: Picture[];
}

/** The enabled image formats: those that messages may contain. */
const formats = ["Jpeg", "Png", "Webp", "Nsgif"];
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: formats.map((name) => `VipsForeignLoad${name}`) });
sharp.cache(false);
sharp.concurrency(1);

/** Decodes and resizes an image. Throws an error that explains why it can't be used. */
export default async function decodedImage(request: DecodeRequest): Promise<DecodedImage> {
  const { data, processor, pixels } = request;
  try {
    const picture = await decodePicture(() =>
      sharp(data, { limitInputPixels: pixels, failOn: "error", ignoreIcc: true }),
    );
    const { width, height } = picture;
    return { size: { width, height }, pictures: resizedPictures(processor, picture) };
  } catch (error) {
    throw new Error(messageOf(error).replace("exceeds pixel limit", `has more than ${pixels} pixels`));
  }
}
