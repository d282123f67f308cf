import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { loadTokenizer } from "../../../tokens/tokenizer.ts";
import type { ModelConfig } from "../../config/model-config.ts";
import { readModelConfig } from "../../config/model-config-file.ts";
import type { FloatType } from "../float-types.ts";
import { checkModelWeights, modelWeightShapes } from "../model-weights.ts";
import { type LazyTensor, loaded, type Tensor } from "../safetensors.ts";
import { configFromMetadata, type ModelHeader } from "./config-metadata.ts";
import { modelMetadata } from "./model-metadata.ts";
import { factorsOf, withFactors } from "./rotary-factors.ts";
import { relayout } from "./tensor-layout.ts";
import { weightsByTensor } from "./tensor-names.ts";
import { tokenizerMetadata } from "./tokenizer-metadata.ts";
import { type PlannedTensor, type TypedValue, writeGguf } from "./writer.ts";

/** llama.cpp's numbers for the type of most tensors in a file (general.file_type). */
const fileTypes: Readonly<Record<FloatType, number>> = { F32: 0, F16: 1, BF16: 32 };

/**
 * Writes the model in `folder`, with `weights`, as a GGUF file with matrices of `dtype`. Norms, biases and routers of
 * experts stay float32, like in llama.cpp. Throws GGUF_EXPORT_FAILED for properties that GGUF can't express.
 */
export async function exportGguf(
  folder: string,
  weights: ReadonlyMap<string, Tensor | LazyTensor>,
  path: string,
  dtype: FloatType,
): Promise<void> {
  const config = await readModelConfig(join(folder, "config.json"));
  if (config.vision)
    throw failed(folder, "it is a vision-language model, and GGUF files have only its language part");
  checkModelWeights(config, weights);
  const { specialTokens, stopTokens, chatTemplate } = await loadTokenizer(folder);
  const json = JSON.parse(await readFile(join(folder, "tokenizer.json"), "utf8"));
  const tokenizer = tokenizerMetadata({ json, specialTokens, stopTokens, chatTemplate }, config);
  if (typeof tokenizer === "string") throw failed(folder, tokenizer);
  const model = modelMetadata(config);
  const general = new Map<string, TypedValue>([
    ["general.type", { type: "string", value: "model" }],
    ["general.name", { type: "string", value: basename(folder) }],
    ["general.file_type", { type: "uint32", value: fileTypes[dtype] }],
  ]);
  const tensors = [...planFactors(config), ...planWeights(config, weights, dtype)];
  checkSaid(folder, config, model, tensors);
  await writeGguf(path, new Map([...model, ...general, ...tokenizer]), tensors);
}

/** Throws GGUF_EXPORT_FAILED unless the configuration can be restored from the file's metadata and tensors. */
function checkSaid(
  folder: string,
  config: ModelConfig,
  model: ReadonlyMap<string, TypedValue>,
  tensors: readonly PlannedTensor[],
): void {
  const metadata = new Map(
    [...model].flatMap(([key, { type, value }]) => {
      if (type === "strings" || type === "int32s" || type === "float32s") return [];
      return [[key, type === "float32" ? Math.fround(value) : value] as const];
    }),
  );
  const header = { metadata, tensors: new Map(tensors.map((tensor) => [tensor.name, tensor])) };
  const said = readAgain(folder, header, config);
  const { model_type: family } = config;
  const expected: ModelConfig = {
    ...config,
    // a Mistral without a window becomes a Llama; how random weights were drawn isn't kept
    model_type: family === "mistral" && config.sliding_window === null ? "llama" : family,
    initializer_range: said.initializer_range,
  };
  const read = new Map<string, unknown>(Object.entries(said));
  for (const [key, value] of Object.entries(expected)) {
    if (isDeepStrictEqual(value, read.get(key))) continue;
    throw failed(
      folder,
      `a model of the family ${family} with ${key} ${JSON.stringify(value)} has no place in GGUF`,
    );
  }
}

function readAgain(folder: string, header: ModelHeader, config: ModelConfig): ModelConfig {
  try {
    return withFactors(folder, header, configFromMetadata(folder, header), factorsOf(config));
  } catch (error) {
    throw failed(folder, error instanceof EverturnError ? String(error.params.reason) : String(error));
  }
}

function planFactors(config: ModelConfig): PlannedTensor[] {
  return Array.from(factorsOf(config), ([name, tensor]) => {
    return { name, shape: tensor.shape, dtype: "F32", load: async () => tensor };
  });
}

function planWeights(
  config: ModelConfig,
  weights: ReadonlyMap<string, Tensor | LazyTensor>,
  dtype: FloatType,
): PlannedTensor[] {
  const shapes = modelWeightShapes(config);
  return Array.from(weightsByTensor(config, shapes.keys()), ([tensor, names]) => {
    const [first = ""] = names;
    const shape = shapes.get(first) ?? [];
    const load = async (name: string) => relayout(config, name, await loaded(weights.get(name)!), "to-gguf");
    const stays = shape.length === 1 || first.endsWith("mlp.gate.weight");
    return {
      name: tensor,
      shape: names.length === 1 ? shape : [names.length, ...shape],
      dtype: stays ? "F32" : dtype,
      load: async () => (names.length === 1 ? load(first) : joined(await Promise.all(names.map(load)))),
    };
  });
}

/** Joins the matrices of experts. */
function joined(parts: readonly Tensor[]): Tensor {
  const { shape, data: first } = parts[0]!;
  const data = new Float32Array(parts.length * first.length);
  for (const [at, part] of parts.entries()) data.set(part.data, at * first.length);
  return { shape: [parts.length, ...shape], data };
}

function failed(folder: string, reason: string): EverturnError {
  return new EverturnError("GGUF_EXPORT_FAILED", { folder, reason });
}
