import { copyFile, cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../../base/files/make-folder.ts";
import { persistently } from "../../../base/files/persistently.ts";
import type { ModelConfig } from "../config/model-config.ts";
import { formatModelConfig, type SpecialTokenIds } from "../config/model-config-file.ts";
import type { AdapterConfig } from "./adapter-config.ts";
import { adapterConfigFile, adapterWeightsFile, writeAdapter } from "./adapter-folder.ts";
import { writeWeights } from "./checkpoint.ts";
import { isWeightsFile } from "./located-tensors.ts";
import type { LazyTensor, Tensor } from "./safetensors.ts";

/** The files of a tokenizer and an image processor. Only the first two always exist. */
const tokenizerFiles = [
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "special_tokens_map.json",
  "preprocessor_config.json",
  "processor_config.json",
];

/**
 * Writes a policy in transformers' format: config.json, generation_config.json, weights, and the tokenizer's files from
 * folder `tokenizer`. The weights come last, so that a folder with them is complete.
 */
export async function writePolicyFolder(
  folder: string,
  policy: {
    config: ModelConfig;
    weights: ReadonlyMap<string, Tensor | LazyTensor>;
    tokens: SpecialTokenIds;
    tokenizer: string;
  },
): Promise<void> {
  await persistently(() => makeFolder(folder));
  await copyTokenizerFiles(policy.tokenizer, folder);
  await writeConfigFiles(folder, policy.config, policy.tokens);
  await writeWeights(folder, policy.weights);
}

/** Writes the next version of the policy in `previous`: the same files with other weights. */
export async function writeNextPolicyFolder(
  folder: string,
  previous: string,
  weights: ReadonlyMap<string, Tensor | LazyTensor>,
): Promise<void> {
  await copyPolicyFiles(folder, previous);
  await writeWeights(folder, weights);
}

/**
 * Writes a version of the policy in `previous` as a LoRA adapter in PEFT's format: the same files without weights.
 * `config.base` names their folder.
 */
export async function writeAdapterPolicyFolder(
  folder: string,
  previous: string,
  config: AdapterConfig,
  tensors: ReadonlyMap<string, Tensor>,
): Promise<void> {
  await copyPolicyFiles(folder, previous);
  await writeAdapter(folder, config, tensors);
}

/** Copies all files of the policy in `previous` except its weights, for a version whose weights are elsewhere. */
export async function copyPolicyFiles(folder: string, previous: string): Promise<void> {
  await persistently(() => makeFolder(folder));
  await copyFiles(previous, folder, (name) => !isModelFile(name));
}

/** Writes config.json and generation_config.json, which sets temperature 1. */
export async function writeConfigFiles(
  folder: string,
  config: ModelConfig,
  tokens: SpecialTokenIds,
): Promise<void> {
  await persistently(() => writeFile(join(folder, "config.json"), formatModelConfig(config, tokens)));
  const generation = JSON.stringify({ do_sample: true, temperature: 1, ...tokens }, null, 2);
  await persistently(() => writeFile(join(folder, "generation_config.json"), `${generation}\n`));
}

/** Copies the files of a tokenizer. */
export async function copyTokenizerFiles(from: string, to: string): Promise<void> {
  await copyFiles(from, to, (name) => tokenizerFiles.includes(name));
}

function isModelFile(name: string): boolean {
  return isWeightsFile(name) || name === adapterConfigFile || name === adapterWeightsFile;
}

async function copyFiles(from: string, to: string, wanted: (name: string) => boolean): Promise<void> {
  for (const entry of await persistently(() => readdir(from, { withFileTypes: true }))) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isFile() && wanted(entry.name)) await persistently(() => copyFile(source, target));
    if (entry.isDirectory() && entry.name === "additional_chat_templates")
      await persistently(() => cp(source, target, { recursive: true }));
  }
}
