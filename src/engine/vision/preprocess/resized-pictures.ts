import { cutSize, patchedSize, scaledSize } from "./image-layout.ts";
import type { ImageProcessor, TileProcessor } from "./image-processor.ts";
import type { Picture } from "./picture.ts";
import { resample } from "./resample.ts";

/** A decoded image as its processor resizes it: the tiles in order, or one picture for patches. */
export function resizedPictures(processor: ImageProcessor, picture: Picture): Picture[] {
  if (processor.kind === "tiles") return tilesOf(processor, picture);
  const { width, height } = patchedSize(processor, picture);
  return [resample(picture, width, height, processor.filter)];
}

function tilesOf(processor: TileProcessor, picture: Picture): Picture[] {
  const { tileSide: side, filter, cuts } = processor;
  const first = scaledSize(processor, picture);
  const scaled = resample(picture, first.width, first.height, filter);
  if (!cuts) return [resample(scaled, side, side, filter)];
  const size = cutSize(processor, picture);
  const whole = resample(scaled, size.width, size.height, filter);
  if (size.width <= side && size.height <= side) return [whole];
  const tiles: Picture[] = [];
  for (let top = 0; top < size.height; top += side)
    for (let left = 0; left < size.width; left += side) tiles.push(cutOut(whole, left, top, side));
  return [...tiles, resample(whole, side, side, filter)];
}

function cutOut({ width, levels }: Picture, left: number, top: number, side: number): Picture {
  const tile = new Uint8Array(side * side * 3);
  for (let y = 0; y < side; y++) {
    const from = ((top + y) * width + left) * 3;
    tile.set(levels.subarray(from, from + side * 3), y * side * 3);
  }
  return { width: side, height: side, levels: tile };
}
