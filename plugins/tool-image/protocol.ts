import type { Region, Size } from "./region.ts";

/** What may be done to an image. Angles are clockwise, in degrees. */
export type Change =
  | { kind: "extract"; region: Region }
  | { kind: "rotate"; angle: number }
  | { kind: "resize"; size: Size }
  | { kind: "flip"; direction: "horizontal" | "vertical" };

export interface ImageLimits {
  /** Pixels that an image may have in all. */
  pixels: number;
  /** Pixels of the longer side of what is made, which is scaled down to it. */
  side: number;
}

/** What the process of images is asked: to change one, or, without a change, for its size. */
export interface ImageRequest {
  data: Uint8Array;
  limits: ImageLimits;
  change?: Change;
}

/** An image's bytes, and its size. */
export interface MadeImage extends Size {
  data: Uint8Array;
}

/** What the process answers; `refused` is why the image can't be used. Without a change the bytes are empty: who asked has them. */
export type ImageAnswer = { image: MadeImage } | { refused: string };
