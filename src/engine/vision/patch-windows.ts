import type { PatchVision } from "../models/config/vision-config.ts";
import type { Tensor } from "../onnx/model-session.ts";
import type { ImagePatches } from "./preprocessed-image.ts";

/** Base of the rotations of patches. */
const theta = 10_000;

/** Returns the inputs of `encodedPatches` for an image, except its pixels. */
export function patchFeeds(vision: PatchVision, { grid }: ImagePatches): Record<string, Tensor> {
  const { hidden_size, num_heads } = vision.vision_config;
  const coordinates = patchCoordinates(vision, grid);
  const { length } = coordinates;
  const quarter = hidden_size / num_heads / 4;
  const frequencies = Array.from({ length: quarter }, (_, at) =>
    Math.fround(1 / Math.fround(theta ** Math.fround(at / quarter))),
  );
  const angles = Float32Array.from({ length: length * 2 * quarter }, (_, at) => {
    const { row, column } = coordinates[Math.floor(at / (2 * quarter))]!;
    const part = at % (2 * quarter);
    return (part < quarter ? row : column) * frequencies[part % quarter]!;
  });
  const table = (of: (angle: number) => number) => ({ shape: [length, 2 * quarter], data: angles.map(of) });
  return {
    numbers: { shape: [length, 1], data: BigInt64Array.from({ length }, (_, at) => BigInt(at)) },
    cosines: table(Math.cos),
    sines: table(Math.sin),
    ...windowFeeds(vision, coordinates),
  };
}

interface Coordinates {
  row: number;
  column: number;
}

/** Returns the patches in the order of Qwen's processor: square by square. */
function patchCoordinates(vision: PatchVision, [time, height, width]: ImagePatches["grid"]): Coordinates[] {
  const { spatial_merge_size: side } = vision.vision_config;
  const patches: Coordinates[] = [];
  for (let frame = 0; frame < time; frame++)
    for (let row = 0; row < height; row += side)
      for (let column = 0; column < width; column += side)
        for (let within = 0; within < side ** 2; within++)
          patches.push({ row: row + Math.floor(within / side), column: column + (within % side) });
  return patches;
}

/** Groups the patches of an image by windows, in the order of the first patch of each. */
function windowFeeds(vision: PatchVision, coordinates: readonly Coordinates[]): Record<string, Tensor> {
  const { spatial_merge_size: side, window_size, patch_size } = vision.vision_config;
  const step = Math.floor(window_size / side / patch_size) * side;
  const byWindow = new Map<string, number[]>();
  coordinates.forEach(({ row, column }, patch) => {
    const window = `${Math.floor(row / step)},${Math.floor(column / step)}`;
    byWindow.set(window, [...(byWindow.get(window) ?? []), patch]);
  });
  const windows = [...byWindow.values()];
  const size = Math.max(...windows.map(({ length }) => length));
  const index = new BigInt64Array(windows.length * size);
  const mask = new Float32Array(index.length).fill(Number.NEGATIVE_INFINITY);
  const places = new BigInt64Array(coordinates.length);
  windows.forEach((patches, window) => {
    patches.forEach((patch, at) => {
      const place = window * size + at;
      index[place] = BigInt(patch);
      mask[place] = 0;
      places[patch] = BigInt(place);
    });
  });
  return {
    index: { shape: [windows.length, size], data: index },
    mask: { shape: [windows.length, 1, 1, size], data: mask },
    places: { shape: [coordinates.length], data: places },
  };
}
