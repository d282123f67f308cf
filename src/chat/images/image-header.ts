import { createRequire } from "node:module";

/**
 * Loads the package on first use. It has over twenty modules, which every plugin thread would load, and few need
 * them.
 */
const loadImageSize = (): typeof import("image-size") => createRequire(import.meta.url)("image-size");

/** The facts in an image's header. Sizes are in pixels. */
export interface ImageHeader {
  mediaType?: string;
  width?: number;
  height?: number;
}

/** Media types, by `image-size`'s names, of images whose header identifies them reliably. */
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

/** Reads an image's header; empty if it contains nothing reliable. */
export function imageHeader(data: Uint8Array): ImageHeader {
  try {
    const { type = "", width, height } = loadImageSize().imageSize(data);
    const mediaType = knownTypes[type];
    if (mediaType === undefined) return {};
    const isSize = [width, height].every((pixels) => Number.isInteger(pixels) && pixels > 0);
    return isSize ? { mediaType, width, height } : { mediaType };
  } catch {
    return {}; // truncated, or of an unknown type
  }
}
