import { join, resolve } from "node:path";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { isSurelyThere } from "../../../base/files/is-there.ts";
import { adapterConfigFile, readAdapter } from "./adapter-folder.ts";
import { openWeights } from "./checkpoint.ts";
import { mergeAdapter } from "./merge-adapter.ts";
import type { LazyTensor } from "./safetensors.ts";

/** Whether a policy's folder contains a LoRA adapter instead of its own weights. */
export function isAdapterFolder(folder: string): boolean {
  return isSurelyThere(join(folder, adapterConfigFile));
}

/**
 * Opens the weights of the policy in a folder for loading one by one. Weights of an adapter are its base's with the
 * adapter merged. The base is `base`, or else the folder that the adapter names, relative to its own folder or, as in
 * PEFT, to the working directory. Throws ADAPTER_INVALID if the base does not exist, and the formats' errors.
 */
export async function openPolicyWeights(folder: string, base?: string): Promise<Map<string, LazyTensor>> {
  if (!isAdapterFolder(folder)) return openWeights(folder);
  const adapter = await readAdapter(folder);
  const named = adapter.config.base;
  const places = named === "" ? [] : [resolve(folder, named), resolve(named)];
  const found = base ?? places.find((path) => isSurelyThere(path));
  if (found === undefined) {
    const reason = `its base_model_name_or_path ${JSON.stringify(named)} is not a folder on this machine; name one with --base`;
    throw new EverturnError("ADAPTER_INVALID", { folder, reason });
  }
  return mergeAdapter(await openWeights(found), adapter);
}
