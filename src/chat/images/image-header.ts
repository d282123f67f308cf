import { createRequire } from "node:module";

/** Loaded when first needed: each plugin's thread would load its twenty-odd modules, and most answer no image. */
const loadImageSize = (): typeof import("image-size") => createRequire(import.meta.url)("image-size");

/** What an image's header says of it. Sizes in pixels. */
export interface ImageHeader {
  mediaType?: string;
  width?: number;
  height?: number;
}

/** Media types of images whose header says for sure what they are, by the names that `image-size` has for them. */
const knownTypes: Record<string, string> = {
  avif: "image/avif",
  bmp: "image/bmp",
  gif: "image/gif",
  jpg: "image/jpeg",
  png: "image/png",
  svg: "image/svg+xml",
  tiff: "image/tiff",
  webp: "image/webp",
};

/** What an image's header says; nothing where it says nothing that can be relied on. */
export function imageHeader(data: Uint8Array): ImageHeader {
  try {
    const { type = "", width, height } = loadImageSize().imageSize(data);
    const mediaType = knownTypes[type];
    if (mediaType === undefined) return {};
    const isSize = [width, height].every((pixels) => Number.isInteger(pixels) && pixels > 0);
    return isSize ? { mediaType, width, height } : { mediaType };
  } catch {
    return {}; // it is cut, or none of the kinds that are known
  }
}
