import type { Metadata, Sharp } from "sharp";
import type { Picture } from "./picture.ts";

/** Opens an image's bytes with sharp. */
type OpenImage = () => Sharp;

/**
 * Decodes an image as Pillow does: upright, the first frame, colors without their profile, transparent parts over
 * white, the higher 8 of 16 bits, and CMYK by Pillow's formula. Throws sharp's errors.
 */
export async function decodePicture(open: OpenImage): Promise<Picture> {
  const kind = await open().metadata();
  if (kind.space === "cmyk") return fromInk(open().autoOrient());
  const image = open().autoOrient().toColourspace("srgb").ensureAlpha();
  const { data, info } = await image.raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
  return overWhite(data, info, kind);
}

/** Lays the pixels of red, green, blue and alpha over white. */
function overWhite(
  data: Uint8Array,
  { width, height }: { width: number; height: number },
  { hasAlpha }: Metadata,
): Picture {
  const levels = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const alpha = hasAlpha ? data[pixel * 4 + 3]! : 255;
    for (let color = 0; color < 3; color++)
      levels[pixel * 3 + color] = Math.round((data[pixel * 4 + color]! * alpha + 255 * (255 - alpha)) / 255);
  }
  return { width, height, levels };
}

/** Cyan, magenta, yellow and black to red, green and blue. */
async function fromInk(image: Sharp): Promise<Picture> {
  const { data, info } = await image
    .pipelineColourspace("cmyk")
    .toColourspace("cmyk")
    .raw({ depth: "uchar" })
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const levels = new Uint8Array(width * height * 3);
  for (let pixel = 0; pixel < width * height; pixel++) {
    const light = 255 - data[pixel * 4 + 3]!;
    for (let color = 0; color < 3; color++)
      levels[pixel * 3 + color] = Math.max(0, light - Math.round((light * data[pixel * 4 + color]!) / 255));
  }
  return { width, height, levels };
}
