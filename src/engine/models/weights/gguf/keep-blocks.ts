import { defined } from "../../../../base/records/defined.ts";
import type { HeldMatrix } from "../quantize.ts";
import type { BlockType } from "./block-types.ts";
import { blockIntegers } from "./quantized-blocks.ts";

/** Returns the bits per value of a block type that is kept without widening; undefined for types that can't be. */
export function keptBits({ name }: BlockType): 4 | 8 | undefined {
  return blockIntegers[name]?.bits;
}

/** Returns a matrix [out, in] from whole blocks of such a type, with the file's own integers and scales. */
export function keepBlocks(blocks: Uint8Array, type: BlockType, shape: number[]): HeldMatrix {
  const { bits, group, hasMinimums, read } = blockIntegers[type.name]!;
  const count = blocks.length / type.bytes;
  const size = type.values;
  const values = new Uint8Array((count * size * bits) / 8);
  const scales = new Float32Array((count * size) / group);
  const minimums = new Float32Array(hasMinimums ? scales.length : 0);
  const own = { values: new Uint8Array(size), scales: new Float32Array(size / group) };
  const block = { ...own, minimums: new Float32Array(size / group) };
  for (let at = 0; at < count; at++) {
    read(blocks, at * type.bytes, block);
    scales.set(block.scales, (at * size) / group);
    if (hasMinimums) minimums.set(block.minimums, (at * size) / group);
    if (bits === 8) values.set(block.values, at * size);
    else
      for (let i = 0; i < size; i += 2) {
        values[(at * size + i) / 2] = block.values[i]! | (block.values[i + 1]! << 4);
      }
  }
  return defined({ shape, bits, block: group, values, scales, minimums: hasMinimums ? minimums : undefined });
}
