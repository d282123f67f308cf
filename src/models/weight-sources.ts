import { open } from "node:fs/promises";
import { join } from "node:path";
import { readWeights, weightFiles } from "./checkpoint.ts";
import type { Tensor } from "./safetensors.ts";
import { readSafetensorsHeader } from "./safetensors-header.ts";

/** A float32 tensor that stays in a file of its folder; the offset counts bytes. */
export interface StoredTensor {
  readonly shape: readonly number[];
  readonly file: string;
  readonly offset: number;
}

/** Weights by name, in memory or in the files of a folder. */
export interface WeightSources {
  readonly folder?: string;
  readonly tensors: ReadonlyMap<string, Tensor | StoredTensor>;
}

/** Models below this many bytes are read: so their weights can be joined, and the model is one piece. */
const smallModel = 64 * 2 ** 20;

/**
 * The weights of a model's folder, to make a session of: those of a large float32 model stay in their files, where
 * ONNX Runtime maps them into memory. Throws what `readWeights` throws.
 */
export async function weightSources(folder: string): Promise<WeightSources> {
  const tensors = new Map<string, StoredTensor>();
  let bytes = 0;
  for (const name of await weightFiles(folder)) {
    const path = join(folder, name);
    const file = await open(path);
    try {
      for (const [tensor, { dtype, shape, begin, end }] of await readSafetensorsHeader(path, file)) {
        if (dtype !== "F32") return { tensors: await readWeights(folder) };
        tensors.set(tensor, { shape, file: name, offset: begin });
        bytes += end - begin;
      }
    } finally {
      await file.close();
    }
  }
  return bytes < smallModel ? { tensors: await readWeights(folder) } : { folder, tensors };
}
