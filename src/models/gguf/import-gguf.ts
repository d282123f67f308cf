import { writeWeights } from "../checkpoint.ts";
import type { ModelConfig } from "../model-config.ts";
import { checkModelWeights, modelWeightShapes } from "../model-weights.ts";
import { writeConfigFiles } from "../policy-folder.ts";
import type { Tensor } from "../safetensors.ts";
import { configFromMetadata, unsupportedGguf } from "./config-metadata.ts";
import { type GgufHeader, readGgufHeader } from "./header.ts";
import { scalingFromFactors } from "./rotary-factors.ts";
import { specialIds } from "./special-ids.ts";
import { relayout } from "./tensor-layout.ts";
import { ggufName } from "./tensor-names.ts";
import { readGgufTensors } from "./tensors.ts";
import { writeTokenizerFiles } from "./tokenizer-files.ts";

/** The tensor that Llama 3.1 and later keep their scaling of rotary frequencies in. */
const factorsName = "rope_freqs.weight";

/**
 * Writes the model in a GGUF file into an empty folder as transformers loads it: config.json,
 * generation_config.json, the tokenizer's files, and the weights as float32, last. Throws GGUF_INVALID,
 * GGUF_UNSUPPORTED, MODEL_CONFIG_INVALID and MODEL_WEIGHTS_MISMATCH.
 */
export async function importGguf(path: string, folder: string): Promise<void> {
  const header = readGgufHeader(path);
  const config = await withFactors(path, header, configFromMetadata(path, header));
  const tokens = specialIds(path, header);
  const weights = await readModel(path, header, config);
  await writeTokenizerFiles(folder, path, header.metadata);
  await writeConfigFiles(folder, config, tokens);
  await writeWeights(folder, weights);
}

async function withFactors(path: string, { tensors }: GgufHeader, config: ModelConfig): Promise<ModelConfig> {
  const stored = tensors.get(factorsName);
  if (stored === undefined) return config;
  const factors = (await readGgufTensors(path, [stored])).get(factorsName)!;
  const scaling = scalingFromFactors(config.head_dim, config.rope_theta, factors.data);
  if (scaling !== undefined) return { ...config, rope_scaling: scaling };
  throw unsupportedGguf(path, `${factorsName} holds other factors than those of Llama 3`);
}

/** The model's weights by Hugging Face's names. */
async function readModel(
  path: string,
  { tensors }: GgufHeader,
  config: ModelConfig,
): Promise<Map<string, Tensor>> {
  const names = new Map([...modelWeightShapes(config).keys()].map((name) => [ggufName(name), name]));
  const surplus = [...tensors.keys()].find((name) => !names.has(name) && name !== factorsName);
  if (surplus !== undefined) {
    throw unsupportedGguf(path, `a ${config.model_type} model has no tensor ${surplus}`);
  }
  const wanted = [...tensors.values()].filter(({ name }) => names.has(name));
  const weights = new Map<string, Tensor>();
  for (const [stored, tensor] of await readGgufTensors(path, wanted)) {
    const name = names.get(stored)!;
    weights.set(name, relayout(config, name, tensor, "from-gguf"));
  }
  checkModelWeights(config, weights);
  return weights;
}
