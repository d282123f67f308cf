import { Mistake } from "./mistake.ts";

/** A size in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** A region in whole pixels. */
export interface Region extends Size {
  left: number;
  top: number;
}

/** A box in pixels, which need not be whole. */
interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const longest = 100;

/**
 * Returns the region that verl's image_zoom_in_tool shows. A box with a side below `minimum` pixels grows
 * around its center, in its own shape, until it is large enough or fills the image. Throws Mistake if the box
 * has no area, has a side more than 100 times the other, or stays too small.
 */
export function zoomRegion(bbox: readonly number[], size: Size, minimum: number): Region {
  const box = boxOf(bbox, size);
  const [width, height] = [box.right - box.left, box.bottom - box.top];
  const least = Math.min(width, height);
  if (Math.max(width, height) > longest * least)
    throw new Mistake(`the box ${told(bbox)} is more than ${longest} times as long as it is wide`);
  const region = whole(least < minimum ? grown(box, minimum / least, size) : box, size);
  if (Math.min(region.width, region.height) >= minimum) return region;
  throw new Mistake(
    `the box ${told(bbox)} is smaller than ${minimum}×${minimum} pixels, and can't be grown to that in an image of ${size.width}×${size.height}`,
  );
}

/** Returns exactly the box in whole pixels. Throws Mistake if it has no area. */
export function cropRegion(bbox: readonly number[], size: Size): Region {
  return whole(boxOf(bbox, size), size);
}

/**
 * Returns the part of a box [x1, y1, x2, y2] within the image. The numbers are pixels, or fractions of width
 * and height if none is above 1.
 */
function boxOf(bbox: readonly number[], { width, height }: Size): Box {
  const isRelative = bbox.every((number) => number >= 0 && number <= 1);
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = bbox.map((number, index) =>
    isRelative ? number * (index % 2 === 0 ? width : height) : number,
  );
  const box = {
    left: Math.max(0, x1),
    top: Math.max(0, y1),
    right: Math.min(width, x2),
    bottom: Math.min(height, y2),
  };
  if (box.left < box.right && box.top < box.bottom) return box;
  throw new Mistake(
    `the box ${told(bbox)} has nothing of the image, which is ${width}×${height}. Write [x1, y1, x2, y2] with x1 left of x2 and y1 above y2`,
  );
}

function grown({ left, top, right, bottom }: Box, ratio: number, size: Size): Box {
  const fits = Math.min(ratio, size.width / (right - left), size.height / (bottom - top));
  const [width, height] = [(right - left) * fits, (bottom - top) * fits];
  const start = (centre: number, length: number, most: number) =>
    Math.min(Math.max(0, centre - length / 2), most - length);
  const x = start((left + right) / 2, width, size.width);
  const y = start((top + bottom) / 2, height, size.height);
  return { left: x, top: y, right: x + width, bottom: y + height };
}

/** All pixels that the box touches. */
function whole({ left, top, right, bottom }: Box, size: Size): Region {
  const [x, y] = [Math.floor(left), Math.floor(top)];
  return {
    left: x,
    top: y,
    width: Math.min(Math.ceil(right), size.width) - x,
    height: Math.min(Math.ceil(bottom), size.height) - y,
  };
}

function told(bbox: readonly number[]): string {
  return `[${bbox.join(", ")}]`;
}
