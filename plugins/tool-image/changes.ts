import type { JsonObject, JsonValue } from "everturn/plugin";
import { Mistake } from "./mistake.ts";
import type { Change } from "./protocol.ts";
import { cropRegion, type Region, type Size, zoomRegion } from "./region.ts";

/** A change to an image, and its description for the model. */
export interface Planned {
  change: Change;
  told: string;
}

interface ChangeLimits {
  /** The minimum pixels of each side of a zoomed region. */
  minimum: number;
  /** The maximum pixels of a result's side. */
  side: number;
}

/** Returns the change that a function call makes to an image with this number and size. Throws Mistake. */
export function planned(
  name: string,
  given: JsonObject,
  { number, size }: { number: number; size: Size },
  { minimum, side }: ChangeLimits,
): Planned {
  switch (name) {
    case "zoom": {
      const region = zoomRegion(numbersOf(given.bbox_2d), size, minimum);
      const label = given.label === undefined ? "" : ` with label ${given.label}`;
      return extracted(region, `Zoomed in on image ${number} to the region ${corners(region)}${label}.`);
    }
    case "crop": {
      const region = cropRegion(numbersOf(given.bbox_2d), size);
      return extracted(region, `Cut the region ${corners(region)} out of image ${number}.`);
    }
    case "rotate": {
      const angle = Number(given.angle);
      return { change: { kind: "rotate", angle }, told: `Rotated image ${number} by ${angle}° clockwise.` };
    }
    case "resize": {
      const wanted = resized(size, given);
      if (Math.max(wanted.width, wanted.height) > side)
        throw new Mistake(
          `image ${number} would have ${wanted.width}×${wanted.height} pixels; no side may have more than ${side}`,
        );
      const told = `Resized image ${number} from ${size.width}×${size.height} pixels.`;
      return { change: { kind: "resize", size: wanted }, told };
    }
    case "flip": {
      const direction = given.direction === "vertical" ? "vertical" : "horizontal";
      const how = direction === "vertical" ? "top to bottom" : "left to right";
      return { change: { kind: "flip", direction }, told: `Flipped image ${number} ${how}.` };
    }
    default:
      throw new Error(`there is no function ${name}`);
  }
}

/** Returns the given sides. If one is missing, it keeps the proportion. */
function resized(size: Size, { width, height }: JsonObject): Size {
  if (width === undefined && height === undefined) throw new Mistake("give width, height, or both");
  const part = (length: number) => Math.max(1, Math.round(length));
  return {
    width: Number(width ?? part((Number(height) * size.width) / size.height)),
    height: Number(height ?? part((Number(width) * size.height) / size.width)),
  };
}

function extracted(region: Region, told: string): Planned {
  return { change: { kind: "extract", region }, told };
}

function corners({ left, top, width, height }: Region): string {
  return `[${left}, ${top}, ${left + width}, ${top + height}]`;
}

function numbersOf(value: JsonValue | undefined): number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}
