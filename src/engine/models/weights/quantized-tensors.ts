import { defined } from "../../../base/records/defined.ts";
import type { HeldMatrix } from "./quantize.ts";
import type { ByteTensor, Tensor } from "./safetensors.ts";

/** The tensors of one quantized matrix in a file. */
export interface MatrixParts<Found> {
  shape: number[];
  bits: 4 | 8;
  block: number;
  values: Found;
  scales: Found;
  minimums?: Found;
}

/**
 * Returns the tensors of quantized matrices in files: `<name>.int8` [out, in] or `<name>.int4` [out, in / 2] of type
 * U8, `<name>.scales`, and possibly `<name>.minimums` [out, in / block].
 */
export function quantizedTensors(
  quantized: ReadonlyMap<string, HeldMatrix>,
): Map<string, Tensor | ByteTensor> {
  const tensors = new Map<string, Tensor | ByteTensor>();
  for (const [name, { shape, bits, block, values, scales, minimums }] of quantized) {
    const [out = 0, input = 0] = shape;
    const blocks = [out, input / block];
    tensors.set(`${name}.int${bits}`, { shape: [out, (input * bits) / 8], data: values });
    tensors.set(`${name}.scales`, { shape: blocks, data: scales });
    if (minimums) tensors.set(`${name}.minimums`, { shape: blocks, data: minimums });
  }
  return tensors;
}

/** Whether a file's tensor is a part of a quantized matrix. */
export function isQuantizedPart(name: string): boolean {
  return /\.(int[48]|scales|minimums)$/.test(name);
}

/** Removes the tensors of quantized matrices from a file's tensors, and returns the matrices by name. */
export function takeQuantized<Found extends { readonly shape: readonly number[] }>(
  tensors: Map<string, Found>,
): Map<string, MatrixParts<Found>> {
  const matrices = new Map<string, MatrixParts<Found>>();
  for (const [part, values] of [...tensors]) {
    const [, name, kind] = /^(.+)\.int([48])$/.exec(part) ?? [];
    const scales = tensors.get(`${name}.scales`);
    if (name === undefined || scales === undefined) continue;
    const minimums = tensors.get(`${name}.minimums`);
    const bits = kind === "4" ? 4 : 8;
    const [out = 0, bytes = 0] = values.shape;
    const input = (bytes * 8) / bits;
    const block = input / (scales.shape[1] ?? 1);
    matrices.set(
      name,
      defined({
        shape: [out, input],
        bits,
        block,
        values,
        scales,
        minimums,
      }),
    );
    for (const ending of [`int${bits}`, "scales", "minimums"]) tensors.delete(`${name}.${ending}`);
  }
  return matrices;
}
