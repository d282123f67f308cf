import type { FileHandle } from "node:fs/promises";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isObject } from "../../../contracts/json.ts";
import { elementCount } from "../../onnx/element-count.ts";
import { readFully } from "./file-bytes.ts";
import { type FloatType, floatBytes, isFloatType } from "./float-types.ts";

/** The types of tensors in a file: floats, or the bytes of quantized matrices. */
export type StoredType = FloatType | "U8";

const typeBytes: Readonly<Record<StoredType, number>> = { ...floatBytes, U8: 1 };

/** The most bytes of a header, as in the reference implementation (safetensors 0.6, MAX_HEADER_SIZE). */
const longestHeader = 100_000_000n;

/** A tensor in a safetensors file. `begin` and `end` are byte offsets in the whole file. */
export interface StoredTensor {
  dtype: StoredType;
  shape: number[];
  begin: number;
  end: number;
}

/**
 * Reads and checks the header of a safetensors file. Throws SAFETENSORS_INVALID if the file is not one, is truncated,
 * or contains a requested tensor of a type other than F32, F16, BF16 and U8.
 */
export async function readSafetensorsHeader(
  path: string,
  file: FileHandle,
  isUnwanted: (name: string) => boolean = () => false,
): Promise<Map<string, StoredTensor>> {
  const { size } = await file.stat();
  const prefix = Buffer.alloc(8);
  if (!(await readFully(file, prefix, 0))) {
    throw invalidSafetensors(path, "it is shorter than the eight bytes of a header's length");
  }
  const length = prefix.readBigUInt64LE(0);
  if (length > BigInt(size - 8)) {
    throw invalidSafetensors(path, `its header of ${length} bytes runs past the end`);
  }
  if (length > longestHeader) {
    throw invalidSafetensors(path, `its header of ${length} bytes is longer than ${longestHeader}`);
  }
  const text = Buffer.alloc(Number(length));
  if (!(await readFully(file, text, 8))) throw invalidSafetensors(path, "it was cut while it was read");
  const start = 8 + text.length;
  const { __metadata__: _, ...entries } = parseObject(path, text.toString("utf8"));
  checkLayout(path, entries, size - start);
  const tensors = new Map<string, StoredTensor>();
  for (const [name, value] of Object.entries(entries)) {
    if (!isUnwanted(name)) tensors.set(name, checkEntry(path, name, value, start));
  }
  return tensors;
}

/** Returns the bytes before those of tensors: the header's length, and the header padded to a multiple of eight. */
export function safetensorsHeader(
  tensors: readonly { name: string; shape: readonly number[]; dtype: StoredType }[],
  metadata: Readonly<Record<string, string>>,
): Buffer {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const { name, shape, dtype } of tensors) {
    const end = offset + elementCount(shape) * typeBytes[dtype];
    header[name] = { dtype, shape, data_offsets: [offset, end] };
    offset = end;
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.alloc(8 + Math.ceil(json.length / 8) * 8, " ");
  padded.writeBigUInt64LE(BigInt(padded.length - 8), 0);
  json.copy(padded, 8);
  return padded;
}

/** Returns the error SAFETENSORS_INVALID. */
export function invalidSafetensors(path: string, reason: string): EverturnError {
  return new EverturnError("SAFETENSORS_INVALID", { path, reason });
}

function parseObject(path: string, text: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch {
    throw invalidSafetensors(path, "its header is not JSON");
  }
  if (!isObject(header)) throw invalidSafetensors(path, "its header is not a JSON object");
  return header;
}

/** Checks that the tensors fill the file without overlaps or gaps, as the format requires. */
function checkLayout(path: string, entries: Readonly<Record<string, unknown>>, bytes: number): void {
  const places = Object.entries(entries).map(([name, value]) => {
    const offsets = isObject(value) ? value.data_offsets : undefined;
    if (!isCounts(offsets) || offsets.length !== 2)
      throw invalidSafetensors(path, `the entry of tensor ${name} lacks a dtype, a shape or its offsets`);
    const [begin = 0, end = 0] = offsets;
    return { name, begin, end };
  });
  let filled = 0;
  for (const { name, begin, end } of places.sort((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (begin < filled) throw invalidSafetensors(path, `tensor ${name} overlaps the tensor before it`);
    if (begin > filled) {
      throw invalidSafetensors(path, `no tensor covers the ${begin - filled} bytes before tensor ${name}`);
    }
    if (end < begin) throw invalidSafetensors(path, `tensor ${name} ends before it begins`);
    if (end > bytes) throw invalidSafetensors(path, `tensor ${name} runs past the end of the file`);
    filled = end;
  }
  if (filled !== bytes) throw invalidSafetensors(path, `no tensor covers its last ${bytes - filled} bytes`);
}

function checkEntry(path: string, name: string, value: unknown, start: number): StoredTensor {
  const { dtype, shape, data_offsets: offsets } = isObject(value) ? value : {};
  if (typeof dtype !== "string" || !isCounts(shape) || !isCounts(offsets)) {
    throw invalidSafetensors(path, `the entry of tensor ${name} lacks a dtype, a shape or its offsets`);
  }
  if (!isFloatType(dtype) && dtype !== "U8") {
    const known = Object.keys(typeBytes).join(", ");
    throw invalidSafetensors(path, `tensor ${name} is ${dtype}; only ${known} can be read`);
  }
  const [first = 0, last = 0] = offsets;
  if (last - first !== elementCount(shape) * typeBytes[dtype]) {
    throw invalidSafetensors(
      path,
      `tensor ${name} of shape [${shape}] does not fill its ${last - first} bytes`,
    );
  }
  return { dtype, shape, begin: start + first, end: start + last };
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}
