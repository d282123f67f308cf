import type { AdamWFunctions } from "./adamw-functions.ts";
import type { QuantizedMoment } from "./adamw-rows.ts";
import type { CopyNumbers } from "./copy-numbers.ts";
import { momentBlock, momentCodes } from "./moment-codes.ts";

/** Returns the bytes of memory that a codec for chunks of this size needs: codes, scales and tables. */
export const codecBytes = (chunk: number) => chunk + 4 * (chunk / momentBlock) + 5120;

/** Converts 8-bit moments to floats in a memory and back. */
export interface MomentCodec {
  load(moment: QuantizedMoment, start: number, end: number): void;
  store(moment: QuantizedMoment, start: number, end: number): void;
}

/**
 * Returns a codec for first (signed) or second moments and a chunk of floats in the memory. `base` is the address of
 * the codec's own room.
 */
export function createMomentCodec(
  { quantize, dequantize }: AdamWFunctions,
  copy: CopyNumbers,
  floats: Float32Array,
  base: number,
  signed: boolean,
): MomentCodec {
  const { buffer, length: chunk } = floats;
  const codes = new Uint8Array(buffer, base, chunk);
  const scales = new Float32Array(buffer, base + chunk, chunk / momentBlock);
  const tables = momentCodes(signed);
  const values = new Float32Array(buffer, scales.byteOffset + scales.byteLength, 256);
  const middles = new Float32Array(buffer, values.byteOffset + values.byteLength, 256);
  const steps = new Uint8Array(buffer, middles.byteOffset + middles.byteLength, tables.steps.length);
  values.set(tables.values);
  middles.set(tables.middles);
  steps.set(tables.steps);
  const blocksOf = (start: number, end: number) =>
    [start / momentBlock, Math.ceil(end / momentBlock)] as const;
  return {
    load(moment, start, end) {
      copy(moment.codes, start, codes, 0, end - start);
      const [from, to] = blocksOf(start, end);
      copy(moment.scales, from, scales, 0, to - from);
      const places = [codes, scales, values, floats].map(({ byteOffset }) => byteOffset);
      dequantize(end - start, ...places);
    },
    store(moment, start, end) {
      const places = [floats, codes, scales, steps, middles].map(({ byteOffset }) => byteOffset);
      quantize(end - start, ...places, signed ? 1 : 0);
      copy(codes, 0, moment.codes, start, end - start);
      const [from, to] = blocksOf(start, end);
      copy(scales, 0, moment.scales, from, to - from);
    },
  };
}
