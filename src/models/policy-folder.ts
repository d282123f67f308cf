import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelConfig } from "./model-config.ts";
import { formatModelConfig, type SpecialTokenIds } from "./model-config-file.ts";
import { type Tensor, writeSafetensors } from "./safetensors.ts";

/** The files a tokenizer may have; only the first two are always there. */
const tokenizerFiles = [
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "special_tokens_map.json",
];
const weightsFile = "model.safetensors";

/**
 * Writes a policy as `transformers` loads it: config.json, generation_config.json, model.safetensors, and the files
 * of the tokenizer in folder `tokenizer`. The weights come last: a folder that has them is whole.
 */
export async function writePolicyFolder(
  folder: string,
  policy: {
    config: ModelConfig;
    weights: ReadonlyMap<string, Tensor>;
    tokens: SpecialTokenIds;
    tokenizer: string;
  },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await copyFiles(policy.tokenizer, folder, (name) => tokenizerFiles.includes(name));
  await writeFile(join(folder, "config.json"), formatModelConfig(policy.config, policy.tokens));
  await writeFile(
    join(folder, "generation_config.json"),
    `${JSON.stringify({ do_sample: true, temperature: 1, ...policy.tokens }, null, 2)}\n`,
  );
  await writeSafetensors(join(folder, weightsFile), policy.weights);
}

/** Writes the next version of the policy in `previous`: the same files with other weights. */
export async function writeNextPolicyFolder(
  folder: string,
  previous: string,
  weights: ReadonlyMap<string, Tensor>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await copyFiles(previous, folder, (name) => name !== weightsFile);
  await writeSafetensors(join(folder, weightsFile), weights);
}

async function copyFiles(from: string, to: string, wanted: (name: string) => boolean): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (entry.isFile() && wanted(entry.name)) await copyFile(join(from, entry.name), join(to, entry.name));
  }
}
