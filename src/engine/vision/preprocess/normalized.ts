import type { ImagePatches, ImageTiles, PreprocessedImage } from "../preprocessed-image.ts";
import { imageLayout, type PatchLayout, type TileLayout } from "./image-layout.ts";
import type { ImageProcessor, PatchProcessor } from "./image-processor.ts";
import type { Picture, PictureSize } from "./picture.ts";

/** The input of the vision encoder: resized pictures of an image of this size, with normalized colors. */
export function normalized(
  processor: ImageProcessor,
  size: PictureSize,
  pictures: readonly Picture[],
): PreprocessedImage {
  const colors = normalizedLevels(processor);
  const layout = imageLayout(processor, size);
  const [first] = pictures;
  if (first === undefined) throw new Error("an image has no pictures");
  return processor.kind === "patches" && layout.kind === "patches"
    ? patchesOf(processor, layout, first, colors)
    : tilesOf(layout, pictures, first, colors);
}

/** For each color, the normalized value of each of its 256 levels, computed in float32 as torchvision does. */
function normalizedLevels({ mean, deviation }: ImageProcessor): Float32Array[] {
  const whole = Math.fround(255);
  return mean.map((center, color) => {
    const subtracted = Math.fround(Math.fround(center) * whole);
    const divisor = Math.fround(Math.fround(deviation[color]!) * whole);
    return Float32Array.from({ length: 256 }, (_, level) => Math.fround(level - subtracted) / divisor);
  });
}

function tilesOf(
  { tokens }: TileLayout | PatchLayout,
  pictures: readonly Picture[],
  { width, height }: Picture,
  colors: readonly Float32Array[],
): ImageTiles {
  const plane = width * height;
  const pixels = new Float32Array(pictures.length * 3 * plane);
  for (const [tile, { levels }] of pictures.entries()) {
    for (const [color, values] of colors.entries()) {
      const to = (tile * 3 + color) * plane;
      for (let at = 0; at < plane; at++) pixels[to + at] = values[levels[at * 3 + color]!]!;
    }
  }
  return { kind: "tiles", pixels, tiles: pictures.length, height, width, tokens };
}

/** Patches in squares of `merge`, each with its colors, and each color with the same picture in every frame. */
function patchesOf(
  { patch, frames, merge }: PatchProcessor,
  { grid, tokens }: PatchLayout,
  { width, levels }: Picture,
  colors: readonly Float32Array[],
): ImagePatches {
  const [, rows, columns] = grid;
  const size = patch * patch;
  const pixels = new Float32Array(rows * columns * 3 * frames * size);
  let number = 0;
  const write = (row: number, column: number) => {
    for (const [color, values] of colors.entries()) {
      const to = (number * 3 + color) * frames * size;
      for (let y = 0; y < patch; y++) {
        const from = ((row * patch + y) * width + column * patch) * 3 + color;
        for (let x = 0; x < patch; x++) pixels[to + y * patch + x] = values[levels[from + x * 3]!]!;
      }
      for (let frame = 1; frame < frames; frame++) pixels.copyWithin(to + frame * size, to, to + size);
    }
    number++;
  };
  for (let top = 0; top < rows; top += merge)
    for (let left = 0; left < columns; left += merge)
      for (let at = 0; at < merge * merge; at++) write(top + Math.floor(at / merge), left + (at % merge));
  return { kind: "patches", pixels, grid, tokens };
}
