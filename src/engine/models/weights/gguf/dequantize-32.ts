import { halfValues } from "../float-types.ts";

// Blocks of 32 values: a scale in float16, possibly a minimum in float16, and 4, 5 or 8 bits per value.

/** Q4_0 and, with a minimum, Q4_1. */
export function dequantizeFours(blocks: Uint8Array, floats: Float32Array, minimum: boolean): void {
  const head = minimum ? 4 : 2;
  for (let at = 0, out = 0; out < floats.length; at += head + 16, out += 32) {
    const scale = halfAt(blocks, at);
    // adding −0 changes nothing, not even the sign of −0
    const least = minimum ? halfAt(blocks, at + 2) : -0;
    const zero = minimum ? 0 : 8;
    for (let i = 0; i < 16; i++) {
      const pair = blocks[at + head + i]!;
      floats[out + i] = scale * ((pair & 15) - zero) + least;
      floats[out + 16 + i] = scale * ((pair >> 4) - zero) + least;
    }
  }
}

/** Q5_0 and, with a minimum, Q5_1. The fifth bits come before the others. */
export function dequantizeFives(blocks: Uint8Array, floats: Float32Array, minimum: boolean): void {
  const head = minimum ? 8 : 6;
  for (let at = 0, out = 0; out < floats.length; at += head + 16, out += 32) {
    const scale = halfAt(blocks, at);
    const least = minimum ? halfAt(blocks, at + 2) : -0;
    const zero = minimum ? 0 : 16;
    for (let i = 0; i < 16; i++) {
      const pair = blocks[at + head + i]!;
      const low = blocks[at + head - 4 + (i >> 3)]! >> (i & 7);
      const high = blocks[at + head - 2 + (i >> 3)]! >> (i & 7);
      floats[out + i] = scale * (((pair & 15) | ((low & 1) << 4)) - zero) + least;
      floats[out + 16 + i] = scale * (((pair >> 4) | ((high & 1) << 4)) - zero) + least;
    }
  }
}

/** Q8_0. */
export function dequantizeEights(blocks: Uint8Array, floats: Float32Array): void {
  for (let at = 0, out = 0; out < floats.length; at += 34, out += 32) {
    const scale = halfAt(blocks, at);
    for (let i = 0; i < 32; i++) floats[out + i] = scale * signedByte(blocks[at + 2 + i]!);
  }
}

/** Returns the float16 at an offset. */
export function halfAt(bytes: Uint8Array, at: number): number {
  return halfValues[bytes[at]! | (bytes[at + 1]! << 8)]!;
}

/** Returns a byte as an int8. */
export function signedByte(byte: number): number {
  return (byte << 24) >> 24;
}
