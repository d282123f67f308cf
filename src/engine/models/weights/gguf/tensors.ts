import { open } from "node:fs/promises";
import { readFully } from "../file-bytes.ts";
import type { Tensor } from "../safetensors.ts";
import { invalidGguf } from "./cursor.ts";
import type { GgufTensor } from "./header.ts";

/** Reads the unchanged blocks of a tensor. Throws GGUF_INVALID if the file is truncated. */
export async function readBlocks(path: string, { name, begin, end }: GgufTensor): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const blocks = new Uint8Array(end - begin);
    if (await readFully(file, blocks, begin)) return blocks;
    throw invalidGguf(path, `it was cut while the tensor ${name} was read`);
  } finally {
    await file.close();
  }
}

/** Returns the numbers of a tensor from its blocks. */
export function numbersOf(blocks: Uint8Array, { shape, type }: GgufTensor): Tensor {
  const data = new Float32Array((blocks.length / type.bytes) * type.values);
  type.dequantize(blocks, data);
  return { shape, data };
}

/** Reads tensors of a GGUF file as float32, one after the other, by GGUF's names. Throws GGUF_INVALID. */
export async function readGgufTensors(
  path: string,
  tensors: Iterable<GgufTensor>,
): Promise<Map<string, Tensor>> {
  const read = new Map<string, Tensor>();
  for (const tensor of tensors) read.set(tensor.name, numbersOf(await readBlocks(path, tensor), tensor));
  return read;
}
