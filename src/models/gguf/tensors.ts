import { open } from "node:fs/promises";
import { readFully } from "../file-bytes.ts";
import type { Tensor } from "../safetensors.ts";
import { invalidGguf } from "./cursor.ts";
import type { GgufTensor } from "./header.ts";

/** Reads tensors of a GGUF file as float32, one after the other, by GGUF's names. Throws GGUF_INVALID. */
export async function readGgufTensors(
  path: string,
  tensors: Iterable<GgufTensor>,
): Promise<Map<string, Tensor>> {
  const file = await open(path);
  try {
    const read = new Map<string, Tensor>();
    for (const { name, shape, type, begin, end } of tensors) {
      const blocks = new Uint8Array(end - begin);
      if (!(await readFully(file, blocks, begin))) {
        throw invalidGguf(path, `it was cut while the tensor ${name} was read`);
      }
      const data = new Float32Array((blocks.length / type.bytes) * type.values);
      type.dequantize(blocks, data);
      read.set(name, { shape, data });
    }
    return read;
  } finally {
    await file.close();
  }
}
