/** An image as the input of a vision encoder. */
export type PreprocessedImage = ImageTiles | ImagePatches;

/** An image in tiles of equal size, for Idefics3 and SmolVLM. The last tile shows the whole image. */
export interface ImageTiles {
  kind: "tiles";
  /** Normalized colors, [tiles, 3, height, width]. */
  pixels: Float32Array;
  tiles: number;
  height: number;
  width: number;
  /** The number of image tokens that the image takes in a text. */
  tokens: number;
}

/** An image in patches at its own resolution, for Qwen's vision-language models. */
export interface ImagePatches {
  kind: "patches";
  /** Normalized colors, [patches, channels · temporal patch size · patch size²], in the order of Qwen's processor. */
  pixels: Float32Array;
  /** The number of patches in time, height and width. */
  grid: readonly [time: number, height: number, width: number];
  /** The number of image tokens that the image takes in a text. */
  tokens: number;
}
