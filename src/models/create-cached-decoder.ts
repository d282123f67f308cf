import { EverturnError } from "../errors/everturn-error.ts";
import { cudaMemory } from "../onnx/cuda-memory.ts";
import { deviceError } from "../onnx/device-error.ts";
import { runtimeFunctions } from "../onnx/runtime-functions.ts";
import type { CachedDecoder, DecoderOptions } from "./cached-decoder.ts";
import { createCudaDecoder } from "./cuda-decoder.ts";
import { createFedDecoder } from "./fed-decoder.ts";
import { createInPlaceDecoder } from "./in-place-decoder.ts";
import { joinWeights } from "./join-weights.ts";
import { keyValueTypeOf } from "./key-values.ts";
import type { ModelConfig } from "./model-config.ts";
import { checkModelWeights } from "./model-weights.ts";
import type { Tensor } from "./safetensors.ts";
import { createWebgpuDecoder, isForWebgpu } from "./webgpu-decoder.ts";
import type { WeightSources } from "./weight-sources.ts";

/**
 * Prepares a decoding model. The weights are constants of the graph, which ONNX Runtime packs once; its packed
 * products give a row the same numbers whatever the other rows are, so that a sequence doesn't depend on its batch
 * (on x64, to the last bit). Throws MODEL_WEIGHTS_MISMATCH, and KEY_VALUES_NOT_ROUNDED where they were to be.
 */
export async function createCachedDecoder(
  config: ModelConfig,
  sources: WeightSources,
  options: DecoderOptions,
): Promise<CachedDecoder> {
  checkModelWeights(config, sources.tensors, sources.quantized);
  const { device = "cpu", precision = "float32" } = options.target ?? {};
  const prepared = { ...sources, tensors: joinedIfRead(config, sources) };
  // The operator that keeps keys and values in place has no heads of other sizes.
  const inPlace = device === "cpu" && precision === "float32" && config.head_dim % 16 === 0;
  const runtime = inPlace ? await runtimeFunctions() : undefined;
  if (options.roundedBy && !runtime) {
    const reason = !inPlace
      ? `${device}, ${precision}, heads of ${config.head_dim}; it is for float32 on the CPU and heads of a multiple of 16`
      : "ONNX Runtime's C API can't be called";
    throw new EverturnError("KEY_VALUES_NOT_ROUNDED", { reason });
  }
  if (runtime) return createInPlaceDecoder(runtime, config, prepared, options);
  if (device === "webgpu") return openWebgpu(config, prepared, options);
  const kept = keyValueTypeOf(config, options.target);
  if (kept === "float32" || kept === "int8") return createFedDecoder(config, prepared, options);
  const memory = await cudaMemory();
  const card = await runtimeFunctions();
  if (!card) return createFedDecoder(config, prepared, options);
  const halves = { ...options, precision: kept };
  return createCudaDecoder(card, config, prepared, halves, memory).catch(async (error) => {
    throw await deviceError(device, error);
  });
}

/** Models that the card's operator of attention doesn't take are fed their keys and values. */
async function openWebgpu(
  config: ModelConfig,
  sources: WeightSources,
  options: DecoderOptions,
): Promise<CachedDecoder> {
  const runtime = isForWebgpu(config) ? await runtimeFunctions() : undefined;
  if (!runtime) return createFedDecoder(config, sources, options);
  try {
    return createWebgpuDecoder(runtime, config, sources, options);
  } catch (cause) {
    throw await deviceError("webgpu", cause);
  }
}

/** Small models, whose weights were read, have those of the same input joined. */
function joinedIfRead(
  config: ModelConfig,
  { folder, tensors, quantized }: WeightSources,
): WeightSources["tensors"] {
  if (folder !== undefined || quantized?.size) return tensors;
  const read = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) if ("data" in tensor) read.set(name, tensor);
  return joinWeights(config, read);
}
