import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isThere } from "../../../base/files/is-there.ts";
import { makeFolder } from "../../../base/files/make-folder.ts";
import { readAdapter } from "../weights/adapter-folder.ts";
import { writeWeights } from "../weights/checkpoint.ts";
import type { FloatType } from "../weights/float-types.ts";
import { exportGguf } from "../weights/gguf/export-gguf.ts";
import { copyTokenizerFiles, writeAdapterPolicyFolder } from "../weights/policy-folder.ts";
import { isAdapterFolder, openPolicyWeights } from "../weights/policy-weights.ts";

const dtypeNames: Readonly<Record<FloatType, string>> = { F32: "float32", F16: "float16", BF16: "bfloat16" };

/** The options of an export. */
export interface ExportOptions {
  dtype: FloatType;
  /** For an adapter: writes the merged model instead of the adapter. */
  merge: boolean;
  /** The folder of an adapter's base model. Default: the one that its configuration names. */
  base?: string;
}

/**
 * Exports the policy in `folder` to a GGUF file (if the target ends in .gguf) or to a folder in Hugging Face's format.
 * The folder contains the model, or PEFT's files for an adapter that is not merged. Throws the formats' errors.
 */
export async function exportModel(folder: string, target: string, options: ExportOptions): Promise<void> {
  const asGguf = target.endsWith(".gguf");
  if (isAdapterFolder(folder) && !options.merge) {
    if (asGguf) throw new EverturnError("ADAPTER_NOT_MERGED", { folder });
    const { config, tensors } = await readAdapter(folder);
    return writeAdapterPolicyFolder(target, folder, config, tensors);
  }
  const weights = await openPolicyWeights(folder, options.base);
  if (asGguf) return exportGguf(folder, weights, target, options.dtype);
  makeFolder(target);
  await copyTokenizerFiles(folder, target);
  const config = JSON.parse(await readFile(join(folder, "config.json"), "utf8"));
  const typed = { ...config, torch_dtype: dtypeNames[options.dtype] };
  await writeFile(join(target, "config.json"), `${JSON.stringify(typed, null, 2)}\n`);
  const generation = join(folder, "generation_config.json");
  if (isThere(generation)) await copyFile(generation, join(target, "generation_config.json"));
  await writeWeights(target, weights, { dtype: options.dtype });
}
