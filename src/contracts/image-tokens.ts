/** The place of an image in a sequence of tokens. */
export interface PlacedImage {
  /** The image's content: the SHA-256 of its file, in hexadecimal. */
  sha256: string;
  /**
   * The position of its first image token. From there on, the image takes the next image tokens in order, as many as
   * its preprocessing determines. Other tokens may come between them, such as those around tiles.
   */
  start: number;
}

/** Embeddings of images, one for each image token. */
export interface ImageEmbeddings {
  /** Whether an id from the size of the vocabulary on belongs to an image token. */
  has(token: number): boolean;
  /** Returns the embedding of an image token, [hidden]. */
  embedding(token: number): Float32Array;
  /** Returns an image token's number in its image, from 0, and the image's tokens down and across. */
  place(token: number): { number: number; down: number; across: number };
}

/** Images of tokens that come after `before` others. */
export function movedImages(images: readonly PlacedImage[] = [], before: number): PlacedImage[] {
  return images.map(({ sha256, start }) => ({ sha256, start: start + before }));
}
