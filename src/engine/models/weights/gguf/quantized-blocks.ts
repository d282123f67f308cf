import { halfAt, signedByte } from "./dequantize-32.ts";
import { groupOf } from "./dequantize-k.ts";

/** The contents of one block: its values, and the scale and minimum of each group. */
interface Block {
  values: Uint8Array;
  scales: Float32Array;
  minimums: Float32Array;
}

/** How a block type is kept without widening. */
export interface BlockIntegers {
  bits: 4 | 8;
  /** The number of values that share a scale. */
  group: number;
  hasMinimums: boolean;
  /** Fills `block` from the bytes at an offset, with one value per byte like in a QuantizedMatrix. */
  read: (bytes: Uint8Array, at: number, block: Block) => void;
}

/** The types whose blocks can become those of quantized matrices. The represented numbers stay bit-identical. */
export const blockIntegers: Readonly<Record<string, BlockIntegers>> = {
  Q4_0: {
    bits: 4,
    group: 32,
    hasMinimums: false,
    read: (bytes, at, block) => readFours(bytes, at, 2, block),
  },
  Q4_1: {
    bits: 4,
    group: 32,
    hasMinimums: true,
    read(bytes, at, block) {
      readFours(bytes, at, 4, block);
      block.minimums[0] = halfAt(bytes, at + 2);
    },
  },
  Q5_0: {
    bits: 8,
    group: 32,
    hasMinimums: false,
    read(bytes, at, { values, scales }) {
      scales[0] = halfAt(bytes, at);
      for (let i = 0; i < 32; i++) {
        const low = (bytes[at + 6 + (i & 15)]! >> (4 * (i >> 4))) & 15;
        const high = (bytes[at + 2 + (i >> 3)]! >> (i & 7)) & 1;
        values[i] = (low | (high << 4)) + 112;
      }
    },
  },
  Q8_0: {
    bits: 8,
    group: 32,
    hasMinimums: false,
    read(bytes, at, { values, scales }) {
      scales[0] = halfAt(bytes, at);
      for (let i = 0; i < 32; i++) values[i] = signedByte(bytes[at + 2 + i]!) + 128;
    },
  },
  Q4_K: {
    bits: 4,
    group: 32,
    hasMinimums: true,
    read(bytes, at, block) {
      for (let group = 0; group < 8; group++) {
        const { scale, least } = groupOf(bytes, at, group);
        block.scales[group] = scale;
        block.minimums[group] = -least;
        for (let i = 0; i < 32; i++) {
          block.values[32 * group + i] = (bytes[at + 16 + 32 * (group >> 1) + i]! >> (4 * (group & 1))) & 15;
        }
      }
    },
  },
  Q6_K: {
    bits: 8,
    group: 16,
    hasMinimums: false,
    read(bytes, at, { values, scales }) {
      for (let group = 0; group < 16; group++) {
        scales[group] = halfAt(bytes, at + 208) * signedByte(bytes[at + 192 + group]!);
      }
      for (let i = 0; i < 256; i++) {
        const low = (bytes[at + ((i >> 7) << 6) + (i & 63)]! >> ((i >> 4) & 4)) & 15;
        const high = (bytes[at + 128 + ((i >> 7) << 5) + (i & 31)]! >> ((i >> 4) & 6)) & 3;
        values[i] = (low | (high << 4)) + 96;
      }
    },
  },
};

/** Reads Q4_0 and Q4_1, which store the lower halves of their bytes first. */
function readFours(bytes: Uint8Array, at: number, head: number, { values, scales }: Block): void {
  scales[0] = halfAt(bytes, at);
  for (let i = 0; i < 16; i++) {
    const pair = bytes[at + head + i]!;
    values[i] = pair & 15;
    values[16 + i] = pair >> 4;
  }
}
