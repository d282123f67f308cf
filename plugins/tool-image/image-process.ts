import sharp, { type Sharp } from "sharp";
import type { Change, ImageLimits, ImageRequest, MadeImage } from "./protocol.ts";

// Runs in a process that decodes images, one at a time. A file crafted to break a decoder can end only this
// process.

/** The enabled image formats. All others of libvips (SVG, PDF, matrices, raw camera files) are disabled. */
const formats = ["Jpeg", "Png", "Webp", "Nsgif", "Tiff", "Heif"];
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: formats.map((name) => `VipsForeignLoad${name}`) });
sharp.cache(false);
sharp.concurrency(1);

/** Answers a request. Throws an error that explains why the image can't be used. */
export default async function answered({ data, limits, change }: ImageRequest): Promise<MadeImage> {
  try {
    const { format, autoOrient, hasAlpha } = await open(data, limits).metadata();
    if (change === undefined) return { data: new Uint8Array(), ...autoOrient };
    // Images from lossy formats stay lossy, because a part of a photo would be many times as large as PNG.
    const isPhoto = !hasAlpha && ["jpeg", "webp", "heif"].includes(format);
    const image = (await changed(open(data, limits), change, limits.side)).toColourspace("srgb");
    const encoded = isPhoto ? image.jpeg({ quality: 92, chromaSubsampling: "4:4:4" }) : image.png();
    const { data: made, info } = await encoded.toBuffer({ resolveWithObject: true });
    return { data: made, width: info.width, height: info.height };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(reason.replace("exceeds pixel limit", `has more than ${limits.pixels} pixels`));
  }
}

/** Opens an image upright, according to its EXIF data. Of an animation, only the first frame. */
function open(data: Uint8Array, { pixels }: ImageLimits): Sharp {
  return sharp(data, { limitInputPixels: pixels, failOn: "error" }).autoOrient();
}

async function changed(image: Sharp, change: Change, side: number): Promise<Sharp> {
  switch (change.kind) {
    case "extract":
      return within(image.extract(change.region), side);
    case "resize":
      return image.resize({ ...change.size, fit: "fill" });
    case "flip": {
      const upright = await again(within(image, side));
      return change.direction === "horizontal" ? upright.flop() : upright.flip();
    }
    case "rotate": {
      const upright = await again(within(image, side));
      return within(await again(upright.rotate(change.angle)), side);
    }
  }
}

function within(image: Sharp, side: number): Sharp {
  return image.resize({ width: side, height: side, fit: "inside", withoutEnlargement: true });
}

/**
 * Applies the operations so far. sharp has a fixed order for the operations on one image, so a new image is
 * needed to force another order.
 */
async function again(image: Sharp): Promise<Sharp> {
  const { data, info } = await image.toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  return sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
}
