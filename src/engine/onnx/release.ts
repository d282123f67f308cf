/** Gives the memory of an array back at once, not when the garbage collector comes by. The array is empty afterwards. */
export function release({ buffer }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
