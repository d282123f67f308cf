/**
 * Gives the memory of numbers back at once, not when the garbage collector comes by: gradients of a large model are
 * hundreds of megabytes a run. The array is empty afterwards.
 */
export function release({ buffer }: Float32Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
