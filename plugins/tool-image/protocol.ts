import type { Region, Size } from "./region.ts";

/** The changes to an image. Angles are clockwise, in degrees. */
export type Change =
  | { kind: "extract"; region: Region }
  | { kind: "rotate"; angle: number }
  | { kind: "resize"; size: Size }
  | { kind: "flip"; direction: "horizontal" | "vertical" };

export interface ImageLimits {
  /** The maximum pixels of an image. */
  pixels: number;
  /** The maximum pixels of a result's longer side. Larger results are scaled down. */
  side: number;
}

/** A request to change an image or, without a change, to return its size. */
export interface ImageRequest {
  data: Uint8Array;
  limits: ImageLimits;
  change?: Change;
}

/** An image's bytes, and its size. Without a change the bytes are empty, because the caller has them. */
export interface MadeImage extends Size {
  data: Uint8Array;
}
