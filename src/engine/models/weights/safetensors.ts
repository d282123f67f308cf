import { type FileHandle, open } from "node:fs/promises";
import { persistently } from "../../../base/files/persistently.ts";
import { elementCount } from "../../onnx/element-count.ts";
import { readFully, writeFully, writeWholeFile } from "./file-bytes.ts";
import { type FloatType, floatBytes, floatsToBytes, widenInPlace } from "./float-types.ts";
import {
  invalidSafetensors,
  readSafetensorsHeader,
  type StoredTensor,
  safetensorsHeader,
} from "./safetensors-header.ts";

/** A float32 tensor in memory: its dimensions, and its values in row-major order. */
export type Tensor = { shape: number[]; data: Float32Array };

/** The bytes of a quantized matrix, in the same form. */
export type ByteTensor = { shape: number[]; data: Uint8Array };

/**
 * A float32 tensor that is read or generated when it is needed, so that a model's weights need not all be in memory
 * together.
 */
export interface LazyTensor {
  readonly shape: number[];
  load(): Promise<Tensor>;
}

/** Returns a tensor in memory. */
export async function loaded(tensor: Tensor | LazyTensor): Promise<Tensor> {
  return "load" in tensor ? tensor.load() : tensor;
}

/** Values converted at a time when a narrower type is written. */
const chunk = 2 ** 20;

/**
 * Reads the requested tensors of a safetensors file, widened to float32 (from F32, F16 or BF16), each directly into its
 * own memory. Throws SAFETENSORS_INVALID if the file is not one, is truncated, or contains another type.
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

/** Reads tensors of a file that may contain quantized matrices. */
export async function readTensors(
  path: string,
  isUnwanted: (name: string) => boolean = () => false,
): Promise<Map<string, Tensor | ByteTensor>> {
  const file = await persistently(() => open(path));
  try {
    const tensors = new Map<string, Tensor | ByteTensor>();
    for (const [name, stored] of await persistently(() => readSafetensorsHeader(path, file, isUnwanted))) {
      const { dtype } = stored;
      const read = () =>
        dtype === "U8"
          ? readBytes(path, file, name, stored)
          : readFloats(path, file, name, { ...stored, dtype });
      tensors.set(name, await persistently<Tensor | ByteTensor>(read));
    }
    return tensors;
  } finally {
    await file.close();
  }
}

/** Reads one tensor of floats from a file, widened to float32. Throws SAFETENSORS_INVALID if the file is truncated. */
export async function readFloats(
  path: string,
  file: FileHandle,
  name: string,
  { dtype, shape, begin, end }: StoredTensor & { dtype: FloatType },
): Promise<Tensor> {
  const data = new Float32Array(elementCount(shape));
  const narrow = new Uint8Array(data.buffer, data.length * (4 - floatBytes[dtype]), end - begin);
  await fill(narrow, path, file, name, begin);
  widenInPlace(data, dtype);
  return { shape, data };
}

/** Reads the unchanged bytes of one tensor from a file. Throws SAFETENSORS_INVALID if the file is truncated. */
export async function readBytes(
  path: string,
  file: FileHandle,
  name: string,
  { shape, begin, end }: StoredTensor,
): Promise<ByteTensor> {
  const data = new Uint8Array(end - begin);
  await fill(data, path, file, name, begin);
  return { shape, data };
}

async function fill(
  bytes: Uint8Array,
  path: string,
  file: FileHandle,
  name: string,
  begin: number,
): Promise<void> {
  if (await readFully(file, bytes, begin)) return;
  throw invalidSafetensors(path, `it was cut while tensor ${name} was read`);
}

/**
 * Writes tensors atomically, loading one after the other. They are sorted by name, so that equal tensors give equal
 * bytes. Floats are written as `dtype` (default float32) and before bytes, so that their offsets are even. The default
 * metadata is the one that transformers requires.
 */
export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, Tensor | ByteTensor | LazyTensor>,
  options: { dtype?: FloatType; metadata?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const { dtype = "F32", metadata = { format: "pt" } } = options;
  const named = [...tensors.keys()].sort().map((name) => ({ name, tensor: tensors.get(name)! }));
  const sorted = [false, true].flatMap((ofBytes) =>
    named.filter(({ tensor }) => isBytes(tensor) === ofBytes),
  );
  const header = sorted.map(({ name, tensor }) => {
    return { name, shape: tensor.shape, dtype: isBytes(tensor) ? ("U8" as const) : dtype };
  });
  for (const { name, tensor } of sorted) if (!("load" in tensor)) checkSize(path, name, tensor);
  await writeWholeFile(path, async (file) => {
    await writeFully(file, safetensorsHeader(header, metadata));
    for (const { name, tensor } of sorted) {
      const { data } = isBytes(tensor) ? tensor : await loaded(tensor);
      checkSize(path, name, { shape: tensor.shape, data });
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

function checkSize(
  path: string,
  name: string,
  { shape, data }: Pick<Tensor | ByteTensor, "shape" | "data">,
): void {
  const wanted = elementCount(shape);
  if (wanted === data.length) return;
  const reason = `tensor ${name} has ${data.length} values, its shape [${shape}] needs ${wanted}`;
  throw invalidSafetensors(path, reason);
}

/** Whether a tensor contains bytes instead of floats. */
export function isBytes(tensor: Tensor | ByteTensor | LazyTensor): tensor is ByteTensor {
  return "data" in tensor && tensor.data instanceof Uint8Array;
}
