/** Returns the number of elements in a tensor of this shape. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((total, dimension) => total * dimension, 1);
}
