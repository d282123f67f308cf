import { halfAt, signedByte } from "./dequantize-32.ts";

// “K-quants”: super-blocks of 256 values in groups of 16 or 32, whose scales (and minimums) are also quantized
// (github.com/ggml-org/llama.cpp, pull request 1684; layouts in ggml-common.h).

/** Q2_K: 16 groups with a byte of scale and minimum each; 2 bits per value. */
export function dequantizeQ2K(blocks: Uint8Array, floats: Float32Array): void {
  for (let at = 0, out = 0; out < floats.length; at += 84, out += 256) {
    const scale = halfAt(blocks, at + 80);
    const least = halfAt(blocks, at + 82);
    for (let i = 0; i < 256; i++) {
      const group = blocks[at + (i >> 4)]!;
      const value = (blocks[at + 16 + ((i >> 7) << 5) + (i & 31)]! >> ((i >> 4) & 6)) & 3;
      floats[out + i] = scale * (group & 15) * value - least * (group >> 4);
    }
  }
}

/** Q3_K: 16 groups with 6 bits of scale each; 2 bits per value, and the third bits before them. */
export function dequantizeQ3K(blocks: Uint8Array, floats: Float32Array): void {
  for (let at = 0, out = 0; out < floats.length; at += 110, out += 256) {
    const scale = halfAt(blocks, at + 108);
    for (let i = 0; i < 256; i++) {
      const group = i >> 4;
      const lowBits = blocks[at + 96 + (group & 7)]! >> (group < 8 ? 0 : 4);
      const highBits = blocks[at + 104 + (group & 3)]! >> ((group >> 2) * 2);
      const groupScale = ((lowBits & 15) | ((highBits & 3) << 4)) - 32;
      const low = (blocks[at + 32 + ((i >> 7) << 5) + (i & 31)]! >> ((i >> 4) & 6)) & 3;
      const high = (blocks[at + (i & 31)]! >> (i >> 5)) & 1;
      floats[out + i] = scale * groupScale * (high === 1 ? low : low - 4);
    }
  }
}

/** Q4_K: 8 groups with 6 bits of scale and 6 of minimum each; 4 bits per value. */
export function dequantizeQ4K(blocks: Uint8Array, floats: Float32Array): void {
  for (let at = 0, out = 0; out < floats.length; at += 144, out += 256) {
    for (let group = 0; group < 8; group++) {
      const { scale, least } = groupOf(blocks, at, group);
      const values = at + 16 + ((group >> 1) << 5);
      for (let i = 0; i < 32; i++) {
        const value = (blocks[values + i]! >> ((group & 1) << 2)) & 15;
        floats[out + 32 * group + i] = scale * value - least;
      }
    }
  }
}

/** Q5_K: like Q4_K, with the values' fifth bits before the others. */
export function dequantizeQ5K(blocks: Uint8Array, floats: Float32Array): void {
  for (let at = 0, out = 0; out < floats.length; at += 176, out += 256) {
    for (let group = 0; group < 8; group++) {
      const { scale, least } = groupOf(blocks, at, group);
      const values = at + 48 + ((group >> 1) << 5);
      for (let i = 0; i < 32; i++) {
        const low = (blocks[values + i]! >> ((group & 1) << 2)) & 15;
        const high = (blocks[at + 16 + i]! >> group) & 1;
        floats[out + 32 * group + i] = scale * (low | (high << 4)) - least;
      }
    }
  }
}

/** Q6_K: 16 groups with a signed byte of scale each; 4 bits per value, and 2 more in a separate place. */
export function dequantizeQ6K(blocks: Uint8Array, floats: Float32Array): void {
  for (let at = 0, out = 0; out < floats.length; at += 210, out += 256) {
    const scale = halfAt(blocks, at + 208);
    for (let i = 0; i < 256; i++) {
      const low = (blocks[at + ((i >> 7) << 6) + (i & 63)]! >> ((i >> 4) & 4)) & 15;
      const high = (blocks[at + 128 + ((i >> 7) << 5) + (i & 31)]! >> ((i >> 4) & 6)) & 3;
      const groupScale = scale * signedByte(blocks[at + 192 + (i >> 4)]!);
      floats[out + i] = groupScale * ((low | (high << 4)) - 32);
    }
  }
}

/** Returns scale and minimum of a group of Q4_K and Q5_K. */
export function groupOf(blocks: Uint8Array, at: number, group: number): { scale: number; least: number } {
  const packed = at + 4;
  const first = blocks[packed + group]!;
  const second = blocks[packed + group + 4]!;
  const [scale, least] =
    group < 4
      ? [first & 63, second & 63]
      : [(second & 15) | ((blocks[packed + group - 4]! >> 6) << 4), (second >> 4) | ((first >> 6) << 4)];
  return { scale: halfAt(blocks, at) * scale, least: halfAt(blocks, at + 2) * least };
}
