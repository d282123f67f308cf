/** How many elements a tensor of this shape has. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((total, dimension) => total * dimension, 1);
}
