/** A decoded picture: red, green and blue of each pixel, row after row, from 0 to 255. */
export interface Picture {
  width: number;
  height: number;
  levels: Uint8Array | Uint8ClampedArray;
}

export interface PictureSize {
  width: number;
  height: number;
}
