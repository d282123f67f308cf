import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { makeFolder } from "../../../base/files/make-folder.ts";
import { persistently } from "../../../base/files/persistently.ts";
import { readNamedEnds } from "../../tokens/named-ends.ts";
import { checkTokenizerFiles } from "../../tokens/tokenizer.ts";
import { configError, type ModelConfig } from "../config/model-config.ts";
import { oneOrList, parseModelConfig, type SpecialTokenIds } from "../config/model-config-file.ts";
import { type ModelWeights, openModelWeights, writeModelWeights } from "../weights/checkpoint.ts";
import { checkShapes } from "../weights/model-weights.ts";
import { copyTokenizerFiles, writeConfigFiles } from "../weights/policy-folder.ts";
import {
  dequantizeMatrix,
  type HeldMatrix,
  type Quantization,
  quantizeWeights,
} from "../weights/quantize.ts";
import type { LazyTensor } from "../weights/safetensors.ts";
import { allWeightShapes } from "../weights/vision-weights.ts";
import { storedType } from "../weights/weight-sources.ts";

/**
 * Imports a model in Hugging Face's format into another folder as a policy. Weights keep their stored type if it is the
 * same for all, otherwise they become float32, unless they are quantized. config.json is written as parsed, and the
 * tokenizer's files are copied. Throws MODEL_CONFIG_INVALID, TOKENIZER_INVALID, CHECKPOINT_INVALID, SAFETENSORS_INVALID
 * and MODEL_WEIGHTS_MISMATCH.
 */
export async function importFolder(
  source: string,
  folder: string,
  quantization?: Quantization,
): Promise<void> {
  const path = join(source, "config.json");
  const { config, tokens } = await readParts(source);
  const stored = await withTiedHead(config, await openModelWeights(source), path);
  const weights = await modelWeights(config, stored, quantization);
  await copyTokenizerFiles(source, folder);
  await writeConfigFiles(folder, config, tokens);
  await writeModelWeights(folder, weights, weights.quantized.size > 0 ? "F32" : await storedType(source));
}

/** Like `importFolder`, but without weights, which `source` need not have. */
export async function importWithoutWeights(source: string, folder: string): Promise<void> {
  const { config, tokens } = await readParts(source);
  await persistently(() => makeFolder(folder));
  await copyTokenizerFiles(source, folder);
  await writeConfigFiles(folder, config, tokens);
}

/** Reads the configuration and checks the tokenizer's files. */
async function readParts(source: string): Promise<{ config: ModelConfig; tokens: SpecialTokenIds }> {
  const path = join(source, "config.json");
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw configError(`${path} can't be read`, cause);
  });
  const config = parseModelConfig(text, path);
  const tokens = specialTokens(JSON.parse(text), await readNamedEnds(source), path);
  for (const name of ["tokenizer.json", "tokenizer_config.json"]) {
    if (existsSync(join(source, name))) continue;
    throw new EverturnError("TOKENIZER_INVALID", { folder: source, reason: `${name} is missing` });
  }
  await checkTokenizerFiles(source);
  return { config, tokens };
}

/** The weights that transformers ties to each other: the input embeddings and the language-model head. */
const embeddings = "model.embed_tokens.weight";
const head = "lm_head.weight";

/**
 * Returns the weights of a tied model under the name of its embeddings, even if only the head is stored. Throws
 * MODEL_WEIGHTS_MISMATCH for a head that differs from them, because versions of transformers disagree on which of the
 * two counts.
 */
async function withTiedHead(config: ModelConfig, weights: ModelWeights, path: string): Promise<ModelWeights> {
  if (!config.tie_word_embeddings) return weights;
  const own = floatsOf(weights, embeddings);
  const other = floatsOf(weights, head);
  if (other === undefined) return weights;
  if (own === undefined) return { tensors: renamed(weights.tensors), quantized: renamed(weights.quantized) };
  if (isDeepStrictEqual((await own()).data, (await other()).data)) return weights;
  const reason =
    `${head} differs from ${embeddings}, although ${path} ties them (tie_word_embeddings, or the family's default); ` +
    `set tie_word_embeddings to false to use both, or remove ${head}`;
  throw new EverturnError("MODEL_WEIGHTS_MISMATCH", { reason });
}

function floatsOf({ tensors, quantized }: ModelWeights, name: string) {
  const matrix = quantized.get(name);
  return matrix ? async () => dequantizeMatrix(matrix) : tensors.get(name)?.load;
}

function renamed<Weight>(weights: ReadonlyMap<string, Weight>): Map<string, Weight> {
  return new Map(Array.from(weights, ([name, weight]) => [name === head ? embeddings : name, weight]));
}

/**
 * Returns the weights that the configuration requires, in its order. Rejects other weights that would change something.
 * Already quantized matrices stay unchanged.
 */
async function modelWeights(
  config: ModelConfig,
  { tensors, quantized }: ModelWeights,
  quantization: Quantization | undefined,
): Promise<ModelWeights> {
  const shapes = allWeightShapes(config);
  checkShapes(shapes, tensors, quantized);
  const isIdle = (name: string) => name === head || name.endsWith(".rotary_emb.inv_freq");
  const surplus = [...tensors.keys(), ...quantized.keys()].find((name) => !shapes.has(name) && !isIdle(name));
  if (surplus !== undefined) {
    const reason = `there is a tensor ${surplus}, which a ${config.model_type} model of this configuration lacks`;
    throw new EverturnError("MODEL_WEIGHTS_MISMATCH", { reason });
  }
  const wanted = <Weight>(weights: ReadonlyMap<string, Weight>) =>
    new Map([...shapes.keys()].flatMap((name) => (weights.has(name) ? [[name, weights.get(name)!]] : [])));
  const plain: Map<string, LazyTensor> = wanted(tensors);
  const own: Map<string, HeldMatrix> = wanted(quantized);
  if (!quantization) return { tensors: plain, quantized: own };
  const rounded = await quantizeWeights(plain, quantization);
  return { tensors: rounded.tensors, quantized: new Map([...own, ...rounded.quantized]) };
}

function specialTokens(json: Record<string, unknown>, ends: number[], path: string): SpecialTokenIds {
  const id = (name: string) => {
    const value = json[name];
    return typeof value === "number" ? value : null;
  };
  if (ends.length === 0) {
    throw configError(`${path}: eos_token_id is missing, and generation_config.json has none either`);
  }
  return {
    bos_token_id: id("bos_token_id"),
    eos_token_id: oneOrList(ends),
    pad_token_id: id("pad_token_id"),
  };
}
