/**
 * Releases the memory of an array immediately, without waiting for the garbage collector. The array is empty
 * afterwards.
 */
export function release({ buffer }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
