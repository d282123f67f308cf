import type { ModelConfig } from "../../config/model-config.ts";
import { type ModelWeights, writeModelWeights } from "../checkpoint.ts";
import { checkModelWeights, modelWeightShapes } from "../model-weights.ts";
import { writeConfigFiles } from "../policy-folder.ts";
import { bitsOf, type HeldMatrix, type Quantization, quantizeMatrix } from "../quantize.ts";
import { configFromMetadata, unsupportedGguf } from "./config-metadata.ts";
import { type GgufHeader, type GgufTensor, readGgufHeader } from "./header.ts";
import { keepBlocks, keptBits } from "./keep-blocks.ts";
import { factorNames, withFactors } from "./rotary-factors.ts";
import { specialIds } from "./special-ids.ts";
import { relayout, relayoutQuantized } from "./tensor-layout.ts";
import { weightsByTensor } from "./tensor-names.ts";
import { numbersOf, readBlocks, readGgufTensors } from "./tensors.ts";
import { writeTokenizerFiles } from "./tokenizer-files.ts";

/**
 * Imports the model in a GGUF file into an empty folder in Hugging Face's format: config.json, generation_config.json,
 * the tokenizer's files, and finally the weights. Weights become float32, or are quantized, with the file's own blocks
 * if they already have few enough bits. Throws GGUF_INVALID, GGUF_UNSUPPORTED, MODEL_CONFIG_INVALID and
 * MODEL_WEIGHTS_MISMATCH.
 */
export async function importGguf(path: string, folder: string, quantization?: Quantization): Promise<void> {
  const header = readGgufHeader(path);
  const factors = factorNames.flatMap((name) => header.tensors.get(name) ?? []);
  const config = withFactors(
    path,
    header,
    configFromMetadata(path, header),
    await readGgufTensors(path, factors),
  );
  const tokens = specialIds(path, header);
  const weights = await openModel(path, header, config, quantization);
  await writeTokenizerFiles(folder, path, header.metadata);
  await writeConfigFiles(folder, config, tokens);
  await writeModelWeights(folder, weights);
}

/** Opens the model's weights by Hugging Face's names. */
async function openModel(
  path: string,
  { tensors }: GgufHeader,
  config: ModelConfig,
  quantization: Quantization | undefined,
): Promise<ModelWeights> {
  const names = weightsByTensor(config, modelWeightShapes(config).keys());
  const surplus = [...tensors.keys()].find((name) => !names.has(name) && !factorNames.includes(name));
  if (surplus !== undefined) {
    throw unsupportedGguf(path, `a ${config.model_type} model has no tensor ${surplus}`);
  }
  const weights: ModelWeights = { tensors: new Map(), quantized: new Map() };
  for (const stored of tensors.values()) {
    const own = names.get(stored.name) ?? [];
    for (const [at, name] of own.entries()) {
      const part = partOf(stored, at, own.length);
      const matrix = quantization && (await quantizedOf(path, config, name, part, quantization));
      if (matrix) weights.quantized.set(name, matrix);
      else {
        const { shape } = part;
        const load = async () =>
          relayout(config, name, numbersOf(await readBlocks(path, part), part), "from-gguf");
        weights.tensors.set(name, { shape, load });
      }
    }
  }
  checkModelWeights(config, weights.tensors, weights.quantized);
  return weights;
}

/** Returns one of the matrices in a tensor of experts, or the tensor itself if it holds one weight. */
function partOf(stored: GgufTensor, at: number, count: number): GgufTensor {
  const [joined, ...shape] = stored.shape;
  if (count === 1 || joined !== count) return stored;
  const size = (stored.end - stored.begin) / count;
  const begin = stored.begin + at * size;
  return { ...stored, shape, begin, end: begin + size };
}

/** Quantizes a matrix: keeps the file's own blocks, or rounds it. */
async function quantizedOf(
  path: string,
  config: ModelConfig,
  name: string,
  stored: GgufTensor,
  quantization: Quantization,
): Promise<HeldMatrix | undefined> {
  const blocks = await readBlocks(path, stored);
  const bits = bitsOf(name, quantization);
  const kept = stored.shape.length === 2 ? keptBits(stored.type) : undefined;
  if (kept !== undefined && kept <= bits) {
    return relayoutQuantized(config, name, keepBlocks(blocks, stored.type, stored.shape));
  }
  return quantizeMatrix(relayout(config, name, numbersOf(blocks, stored), "from-gguf"), bits);
}
