import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { isThere } from "../../../base/files/is-there.ts";
import { indexFile, wholeFile } from "./located-tensors.ts";
import type { Quantization } from "./quantize.ts";
import { isQuantizedPart } from "./quantized-tensors.ts";

/**
 * Returns the quantization of the matrices in a model's folder. Undefined for floats, and for files that can't be read
 * as a model, which reading the weights reports. Reads only the names of tensors.
 */
export function storedQuantization(folder: string): Quantization | undefined {
  const names = tensorNames(folder).filter(isQuantizedPart);
  if (names.length === 0) return undefined;
  return names.some((name) => name.endsWith(".int4")) ? "int4" : "int8";
}

function tensorNames(folder: string): string[] {
  const whole = join(folder, wholeFile);
  try {
    if (isThere(whole)) return Object.keys(JSON.parse(headerOf(whole)));
    return Object.keys(JSON.parse(readFileSync(join(folder, indexFile), "utf8")).weight_map);
  } catch {
    return [];
  }
}

function headerOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const prefix = Buffer.alloc(8);
    readSync(file, prefix);
    const length = Math.min(Number(prefix.readBigUInt64LE()), fstatSync(file).size);
    const header = Buffer.alloc(length);
    readSync(file, header, 0, length, 8);
    return header.toString();
  } finally {
    closeSync(file);
  }
}
