import type { FileHandle } from "node:fs/promises";
import { writeFully, writeWholeFile } from "../file-bytes.ts";
import { type FloatType, floatBytes, floatsToBytes } from "../float-types.ts";
import type { Tensor } from "../safetensors.ts";
import { defaultAlignment } from "./header.ts";
import { valueTypes } from "./value-types.ts";

/** A value of GGUF metadata with its type. */
export type TypedValue =
  | { type: "uint32" | "int32" | "float32"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string }
  | { type: "strings"; value: readonly string[] }
  | { type: "int32s"; value: readonly number[] }
  | { type: "float32s"; value: readonly number[] };

/** A tensor to write. `load` returns its values when they are needed. */
export interface PlannedTensor {
  name: string;
  shape: readonly number[];
  dtype: FloatType;
  load(): Promise<Tensor>;
}

const typeNumbers: Readonly<Record<FloatType, number>> = { F32: 0, F16: 1, BF16: 30 };

/** Writes a GGUF file of version 3 atomically. */
export async function writeGguf(
  path: string,
  metadata: ReadonlyMap<string, TypedValue>,
  tensors: readonly PlannedTensor[],
): Promise<void> {
  const infos: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, dtype } of tensors) {
    const dimensions = [...shape].reverse().map(uint64);
    infos.push(text(name), uint32(shape.length), ...dimensions, uint32(typeNumbers[dtype]), uint64(offset));
    offset += aligned(shape.reduce((total, size) => total * size, floatBytes[dtype]));
  }
  const entries = [...metadata].flatMap(([key, value]) => [text(key), ...typed(value)]);
  const counts = [Buffer.from("GGUF"), uint32(3), uint64(tensors.length), uint64(metadata.size)];
  await writeWholeFile(path, async (file) => {
    await writePadded(file, Buffer.concat([...counts, ...entries, ...infos]));
    for (const { dtype, load } of tensors) {
      const { data } = await load();
      await writePadded(file, floatsToBytes(data, dtype));
    }
  });
}

async function writePadded(file: FileHandle, bytes: Uint8Array): Promise<void> {
  await writeFully(file, bytes);
  await writeFully(file, new Uint8Array(aligned(bytes.length) - bytes.length));
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / defaultAlignment) * defaultAlignment;
}

function typed({ type, value }: TypedValue): Buffer[] {
  switch (type) {
    case "uint32":
      return [uint32(valueTypes.uint32), uint32(value)];
    case "int32":
      return [uint32(valueTypes.int32), int32(value)];
    case "float32":
      return [uint32(valueTypes.float32), float32(value)];
    case "bool":
      return [uint32(valueTypes.bool), Buffer.of(value ? 1 : 0)];
    case "string":
      return [uint32(valueTypes.string), text(value)];
    case "strings":
      return [...arrayOf(valueTypes.string, value.length), ...value.map(text)];
    case "int32s":
      return [...arrayOf(valueTypes.int32, value.length), ...value.map(int32)];
    case "float32s":
      return [...arrayOf(valueTypes.float32, value.length), ...value.map(float32)];
  }
}

function arrayOf(type: number, length: number): Buffer[] {
  return [uint32(valueTypes.array), uint32(type), uint64(length)];
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
