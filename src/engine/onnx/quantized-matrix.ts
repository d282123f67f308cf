import { defined } from "../../base/records/defined.ts";
import { graphError } from "./graph.ts";

/**
 * A frozen matrix [out, in] of small integers in blocks along `in`, as in ONNX Runtime's MatMulNBits. A number is scale
 * · (value − 2^(bits − 1)), or, if blocks have minimums, scale · value + minimum.
 */
export interface QuantizedMatrix {
  readonly shape: readonly number[];
  /** Bits per value. Two 4-bit values share a byte, the first in its lower half. */
  readonly bits: 4 | 8;
  /** Values per block: a power of two from 16 on that divides `in`. */
  readonly block: number;
  /** [out, in · bits / 8]. */
  readonly values: Part<Uint8Array>;
  /** [out, in / block]. */
  readonly scales: Part<Float32Array>;
  /** [out, in / block]. */
  readonly minimums?: Part<Float32Array>;
}

/** Returns the value that represents zero before the minimum is added. */
export function zeroPoint({ bits, minimums }: QuantizedMatrix): number {
  return minimums ? 0 : 2 ** (bits - 1);
}

/** Numbers in memory, or in a file of the folder that a session reads weights from. The offset is in bytes. */
export type Part<Numbers> = Numbers | StoredPart;

export interface StoredPart {
  readonly file: string;
  readonly offset: number;
}

/** Returns the rows `from` up to but not including `to`, in the same memory or file. */
export function matrixRows(matrix: QuantizedMatrix, from: number, to: number): QuantizedMatrix {
  const [out = 0, input = 0] = matrix.shape;
  if (from < 0 || from >= to || to > out) throw graphError(`rows ${from} to ${to} of a matrix with ${out}`);
  const bytes = (input * matrix.bits) / 8;
  const blocks = input / matrix.block;
  const floats = (part: Part<Float32Array>): Part<Float32Array> =>
    "file" in part ? storedFrom(part, 4 * from * blocks) : part.subarray(from * blocks, to * blocks);
  const { values, scales, minimums } = matrix;
  return defined({
    ...matrix,
    shape: [to - from, input],
    values: "file" in values ? storedFrom(values, from * bytes) : values.subarray(from * bytes, to * bytes),
    scales: floats(scales),
    minimums: minimums && floats(minimums),
  });
}

function storedFrom({ file, offset }: StoredPart, bytes: number): StoredPart {
  return { file, offset: offset + bytes };
}
