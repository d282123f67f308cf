import { open } from "node:fs/promises";
import { join } from "node:path";
import { elementCount } from "../onnx/element-count.ts";
import { readWeights, weightFiles } from "./checkpoint.ts";
import { type FloatType, floatBytes } from "./float-types.ts";
import type { Tensor } from "./safetensors.ts";
import { readSafetensorsHeader } from "./safetensors-header.ts";

/** A tensor that stays in a file of its folder; the offset counts bytes. */
export interface StoredTensor {
  readonly dtype: FloatType;
  readonly shape: readonly number[];
  readonly file: string;
  readonly offset: number;
}

/** Weights by name, in memory or in the files of a folder. */
export interface WeightSources {
  readonly folder?: string;
  readonly tensors: ReadonlyMap<string, Tensor | StoredTensor>;
}

/** What all tensors of a model's folder are stored as; F32 where they differ. Throws what `readWeights` throws. */
export async function storedType(folder: string): Promise<FloatType> {
  const types = new Set((await storedTensors(folder)).map(([, { dtype }]) => dtype));
  const [only = "F32"] = types;
  return types.size === 1 ? only : "F32";
}

/** Models below this many bytes are read: so their weights can be joined, and the model is one piece. */
const smallModel = 64 * 2 ** 20;

/**
 * The weights of a model's folder, to make a session of: those of a large model stay in their files, where ONNX Runtime
 * maps them into memory. Throws what `readWeights` throws.
 */
export async function weightSources(folder: string): Promise<WeightSources> {
  const stored = await storedTensors(folder);
  const bytes = stored.reduce(
    (total, [, { dtype, shape }]) => total + floatBytes[dtype] * elementCount(shape),
    0,
  );
  return bytes < smallModel ? { tensors: await readWeights(folder) } : { folder, tensors: new Map(stored) };
}

async function storedTensors(folder: string): Promise<[string, StoredTensor][]> {
  const tensors: [string, StoredTensor][] = [];
  for (const name of await weightFiles(folder)) {
    const path = join(folder, name);
    const file = await open(path);
    try {
      for (const [tensor, { dtype, shape, begin }] of await readSafetensorsHeader(path, file)) {
        tensors.push([tensor, { dtype, shape, file: name, offset: begin }]);
      }
    } finally {
      await file.close();
    }
  }
  return tensors;
}
