import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { EverturnError } from "../errors/everturn-error.ts";

/** A float32 tensor in memory: dimensions, and the values in row-major order. */
export type Tensor = { shape: number[]; data: Float32Array };

type Entry = { dtype: string; shape: number[]; data_offsets: [number, number] };

const bytesPerValue: Record<string, number> = { F32: 4, F16: 2, BF16: 2 };

/**
 * Reads every tensor of a safetensors file, widened to float32 (F32, F16 and BF16 are understood).
 * Fails with SAFETENSORS_INVALID when the file is not one, is cut short, or holds another type.
 */
export async function readSafetensors(path: string): Promise<Map<string, Tensor>> {
  const file = await readFile(path);
  const { header, dataStart } = readHeader(path, file);
  const tensors = new Map<string, Tensor>();
  for (const [name, value] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const entry = checkEntry(path, name, value, file.length - dataStart);
    const bytes = file.subarray(dataStart + entry.data_offsets[0], dataStart + entry.data_offsets[1]);
    tensors.set(name, { shape: entry.shape, data: toFloat32(bytes, entry.dtype) });
  }
  return tensors;
}

/**
 * Writes tensors as float32, sorted by name, so that equal tensors give equal bytes. The file appears whole or
 * not at all (temporary file, flush, rename). The default metadata is what transformers asks for.
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, Tensor>,
  metadata: Record<string, string> = { format: "pt" },
): Promise<void> {
  const names = [...tensors.keys()].sort();
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const name of names) {
    const { shape, data } = tensors.get(name)!;
    if (product(shape) !== data.length) {
      throw invalid(
        path,
        `tensor ${name} has ${data.length} values, its shape [${shape}] needs ${product(shape)}`,
      );
    }
    header[name] = { dtype: "F32", shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.alloc(8 + Math.ceil(json.length / 8) * 8, " ");
  padded.writeBigUInt64LE(BigInt(padded.length - 8), 0);
  json.copy(padded, 8);

  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(padded);
      for (const name of names) {
        const { data } = tensors.get(name)!;
        await file.writeFile(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function readHeader(path: string, file: Buffer): { header: Record<string, unknown>; dataStart: number } {
  if (file.length < 8) throw invalid(path, "it is shorter than the eight bytes of a header's length");
  const length = file.readBigUInt64LE(0);
  if (length > BigInt(file.length - 8))
    throw invalid(path, `its header of ${length} bytes runs past the end`);
  const dataStart = 8 + Number(length);
  let header: unknown;
  try {
    header = JSON.parse(file.toString("utf8", 8, dataStart));
  } catch {
    throw invalid(path, "its header is not JSON");
  }
  if (!isRecord(header)) throw invalid(path, "its header is not a JSON object");
  return { header, dataStart };
}

function checkEntry(path: string, name: string, value: unknown, available: number): Entry {
  if (!isRecord(value)) throw invalid(path, `the entry of tensor ${name} is not an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string" || !isCounts(shape) || !isCounts(offsets) || offsets.length !== 2) {
    throw invalid(path, `the entry of tensor ${name} lacks a dtype, a shape or its offsets`);
  }
  const width = bytesPerValue[dtype];
  if (width === undefined) {
    throw invalid(
      path,
      `tensor ${name} is ${dtype}; only ${Object.keys(bytesPerValue).join(", ")} can be read`,
    );
  }
  const [begin = 0, end = 0] = offsets;
  if (end > available) throw invalid(path, `tensor ${name} runs past the end of the file`);
  if (end - begin !== product(shape) * width) {
    throw invalid(path, `tensor ${name} of shape [${shape}] does not fill its ${end - begin} bytes`);
  }
  return { dtype, shape, data_offsets: [begin, end] };
}

function toFloat32(bytes: Buffer, dtype: string): Float32Array {
  if (dtype === "F32") {
    const data = new Float32Array(bytes.length / 4);
    new Uint8Array(data.buffer).set(bytes);
    return data;
  }
  const data = new Float32Array(bytes.length / 2);
  if (dtype === "BF16") {
    const bits = new Uint32Array(data.buffer);
    for (let i = 0; i < bits.length; i++) bits[i] = bytes.readUInt16LE(2 * i) << 16;
    return data;
  }
  for (let i = 0; i < data.length; i++) data[i] = halfToNumber(bytes.readUInt16LE(2 * i));
  return data;
}

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function product(shape: readonly number[]): number {
  return shape.reduce((total, size) => total * size, 1);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

function invalid(path: string, reason: string): EverturnError {
  return new EverturnError("SAFETENSORS_INVALID", { path, reason });
}
