import type { ImageProcessor, PatchProcessor, TileProcessor } from "./image-processor.ts";
import type { PictureSize } from "./picture.ts";

/** How an image is divided, and the number of its image tokens. */
export type ImageLayout = TileLayout | PatchLayout;

export interface TileLayout {
  kind: "tiles";
  /** Tiles before the one with the whole image; 0 if that is the only one. */
  rows: number;
  columns: number;
  tokens: number;
}

export interface PatchLayout {
  kind: "patches";
  /** Patches in time, height and width. */
  grid: readonly [time: number, height: number, width: number];
  tokens: number;
}

/** The longest side to which Idefics3 enlarges an image before it cuts it. */
const mostSide = 4096;

/** The largest ratio of the sides of an image that Qwen's processor accepts. */
const mostRatio = 200;

/** The layout of an upright image. Throws an error that explains why the model can't read an image of this size. */
export function imageLayout(processor: ImageProcessor, size: PictureSize): ImageLayout {
  return processor.kind === "tiles" ? tileLayout(processor, size) : patchLayout(processor, size);
}

function tileLayout(processor: TileProcessor, size: PictureSize): TileLayout {
  const { tileSide, tokensPerTile, cuts } = processor;
  const { width, height } = cuts ? cutSize(processor, size) : { width: tileSide, height: tileSide };
  const isOne = width <= tileSide && height <= tileSide;
  const rows = isOne ? 0 : height / tileSide;
  const columns = isOne ? 0 : width / tileSide;
  return { kind: "tiles", rows, columns, tokens: (rows * columns + 1) * tokensPerTile };
}

function patchLayout(processor: PatchProcessor, size: PictureSize): PatchLayout {
  const { patch, merge } = processor;
  const { width, height } = patchedSize(processor, size);
  const grid = [1, height / patch, width / patch] as const;
  return { kind: "patches", grid, tokens: (grid[1] * grid[2]) / merge ** 2 };
}

/** The size to which an image is scaled first: its longer side is `longestSide`. */
export function scaledSize({ longestSide }: TileProcessor, size: PictureSize): PictureSize {
  return below(
    size.width >= size.height ? scaled(size, longestSide) : turned(scaled(turned(size), longestSide)),
  );
}

/** Scales an image that is at least as wide as high. The height is even. */
function scaled({ width, height }: PictureSize, longest: number): PictureSize {
  const whole = Math.trunc(longest / (width / height));
  return { width: Math.max(longest, 1), height: Math.max(whole + (whole % 2), 1) };
}

function below({ width, height }: PictureSize): PictureSize {
  const ratio = width / height;
  if (width >= height && width > mostSide)
    return { width: mostSide, height: Math.max(1, Math.trunc(mostSide / ratio)) };
  if (height > width && height > mostSide)
    return { width: Math.max(1, Math.trunc(mostSide * ratio)), height: mostSide };
  return { width, height };
}

function turned({ width, height }: PictureSize): PictureSize {
  return { width: height, height: width };
}

/** The size to which an image is scaled before it is cut: a multiple of the tiles' side. */
export function cutSize(processor: TileProcessor, size: PictureSize): PictureSize {
  const { width, height } = scaledSize(processor, size);
  const ratio = width / height;
  const multiple = (side: number) => Math.ceil(side / processor.tileSide) * processor.tileSide;
  if (width >= height) {
    const wide = multiple(width);
    return { width: wide, height: multiple(Math.trunc(wide / ratio)) };
  }
  const high = multiple(height);
  return { width: multiple(Math.trunc(high * ratio)), height: high };
}

/** The size to which Qwen's processor scales an image. Throws if one side is more than 200 times as long as the other. */
export function patchedSize(processor: PatchProcessor, { width, height }: PictureSize): PictureSize {
  const { patch, merge, leastPixels, mostPixels } = processor;
  if (Math.max(width, height) / Math.min(width, height) > mostRatio)
    throw new Error(
      `it has ${width}×${height} pixels, and no side may be more than ${mostRatio} times the other`,
    );
  const factor = patch * merge;
  const near = { width: halfEven(width / factor) * factor, height: halfEven(height / factor) * factor };
  if (near.width * near.height > mostPixels) {
    const shrink = Math.sqrt((height * width) / mostPixels);
    const part = (side: number) => Math.max(factor, Math.floor(side / shrink / factor) * factor);
    return { width: part(width), height: part(height) };
  }
  if (near.width * near.height < leastPixels) {
    const grow = Math.sqrt(leastPixels / (height * width));
    const part = (side: number) => Math.ceil((side * grow) / factor) * factor;
    return { width: part(width), height: part(height) };
  }
  return near;
}

/** Rounds as Python does: halves to the even neighbor. */
function halfEven(value: number): number {
  const whole = Math.floor(value);
  if (value - whole !== 0.5) return Math.round(value);
  return whole % 2 === 0 ? whole : whole + 1;
}
