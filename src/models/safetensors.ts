import { open } from "node:fs/promises";
import { elementCount } from "../onnx/element-count.ts";
import { readFully, writeFully, writeWholeFile } from "./file-bytes.ts";
import { type FloatType, floatBytes, floatsToBytes, widenInPlace } from "./float-types.ts";
import { invalidSafetensors, readSafetensorsHeader, safetensorsHeader } from "./safetensors-header.ts";

/** A float32 tensor in memory: dimensions, and the values in row-major order. */
export type Tensor = { shape: number[]; data: Float32Array };

/** The bytes of a quantized matrix, likewise. */
export type ByteTensor = { shape: number[]; data: Uint8Array };

/** Values converted at once while a narrower type is written. */
const chunk = 2 ** 20;

/**
 * Reads every tensor of a safetensors file, widened to float32 (F32, F16 and BF16 are understood), each straight
 * into its own memory, but for those that are not wanted. Throws SAFETENSORS_INVALID when the file is not one, is cut short, or holds another type.
 */
export async function readSafetensors(
  path: string,
  isUnwanted?: (name: string) => boolean,
): Promise<Map<string, Tensor>> {
  const tensors = new Map<string, Tensor>();
  for (const [name, { shape, data }] of await readTensors(path, isUnwanted)) {
    if (data instanceof Uint8Array) {
      throw invalidSafetensors(path, `tensor ${name} is U8; only F32, F16, BF16 can be read here`);
    }
    tensors.set(name, { shape, data });
  }
  return tensors;
}

/** The same of a file that may hold quantized matrices. */
export async function readTensors(
  path: string,
  isUnwanted: (name: string) => boolean = () => false,
): Promise<Map<string, Tensor | ByteTensor>> {
  const file = await open(path);
  try {
    const tensors = new Map<string, Tensor | ByteTensor>();
    for (const [name, { dtype, shape, begin, end }] of await readSafetensorsHeader(path, file, isUnwanted)) {
      const fill = async (bytes: Uint8Array) => {
        if (await readFully(file, bytes, begin)) return;
        throw invalidSafetensors(path, `it was cut while tensor ${name} was read`);
      };
      if (dtype === "U8") {
        const data = new Uint8Array(end - begin);
        await fill(data);
        tensors.set(name, { shape, data });
        continue;
      }
      const data = new Float32Array(elementCount(shape));
      await fill(new Uint8Array(data.buffer, data.length * (4 - floatBytes[dtype]), end - begin));
      widenInPlace(data, dtype);
      tensors.set(name, { shape, data });
    }
    return tensors;
  } finally {
    await file.close();
  }
}

/**
 * Writes tensors, sorted by name, so that equal tensors give equal bytes; floats as float32 unless `dtype` says otherwise, and
 * before bytes, so that they lie at even places. The file appears whole or not at all. The default metadata is what transformers asks for.
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, Tensor | ByteTensor>,
  options: { dtype?: FloatType; metadata?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const { dtype = "F32", metadata = { format: "pt" } } = options;
  const named = [...tensors.keys()].sort().map((name) => ({ name, ...tensors.get(name)! }));
  const typed = named.map((tensor) => ({ ...tensor, dtype: isBytes(tensor) ? ("U8" as const) : dtype }));
  const sorted = [...typed.filter((tensor) => !isBytes(tensor)), ...typed.filter(isBytes)];
  for (const { name, shape, data } of sorted) {
    const wanted = elementCount(shape);
    if (wanted === data.length) continue;
    const reason = `tensor ${name} has ${data.length} values, its shape [${shape}] needs ${wanted}`;
    throw invalidSafetensors(path, reason);
  }
  await writeWholeFile(path, async (file) => {
    await writeFully(file, safetensorsHeader(sorted, metadata));
    for (const { data } of sorted) {
      if (data instanceof Uint8Array) {
        await writeFully(file, data);
        continue;
      }
      const step = dtype === "F32" ? data.length : chunk;
      for (let start = 0; start < data.length; start += step) {
        await writeFully(file, floatsToBytes(data.subarray(start, start + step), dtype));
      }
    }
  });
}

const isBytes = ({ data }: Tensor | ByteTensor) => data instanceof Uint8Array;
