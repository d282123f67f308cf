import type { Segment } from "../../contracts/generated/segment.ts";
import { movedImages, type PlacedImage } from "../../contracts/image-tokens.ts";

/** The images of consecutive segments, by their places among all tokens of these segments. */
export function imagesOf(segments: readonly Pick<Segment, "tokens" | "images">[]): PlacedImage[] {
  let before = 0;
  return segments.flatMap(({ tokens, images }) => {
    const moved = movedImages(images, before);
    before += tokens.length;
    return moved;
  });
}
