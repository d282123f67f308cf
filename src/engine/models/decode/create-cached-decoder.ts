import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { cudaMemory } from "../../onnx/cuda-memory.ts";
import { deviceError } from "../../onnx/device-error.ts";
import { type RuntimeFunctions, runtimeFunctions } from "../../onnx/runtime-functions.ts";
import { attendsOnWebgpu } from "../../onnx/webgpu-attention.ts";
import { type ModelConfig, rotatedSize } from "../config/model-config.ts";
import { rotarySections } from "../config/vision-config.ts";
import { joinWeights } from "../graph/join-weights.ts";
import { checkModelWeights } from "../weights/model-weights.ts";
import type { Tensor } from "../weights/safetensors.ts";
import type { WeightSources } from "../weights/weight-sources.ts";
import type { CachedDecoder, DecoderOptions } from "./cached-decoder.ts";
import { createInPlaceDecoder } from "./cpu/in-place-decoder.ts";
import { createPlainDecoder } from "./cpu/plain-decoder.ts";
import { createCudaDecoder } from "./cuda/cuda-decoder.ts";
import { keyValueTypeOf } from "./key-values.ts";
import { createWebgpuDecoder } from "./webgpu/webgpu-decoder.ts";

/**
 * Creates a decoder. The weights are constants of the graph, which ONNX Runtime packs once. Its packed products give a
 * row the same numbers regardless of the other rows, so a sequence doesn't depend on its batch (on x64, to the last
 * bit). Throws MODEL_WEIGHTS_MISMATCH, and KEY_VALUES_NOT_ROUNDED if 8-bit keys and values are not possible.
 */
export async function createCachedDecoder(
  config: ModelConfig,
  sources: WeightSources,
  options: DecoderOptions,
): Promise<CachedDecoder> {
  checkModelWeights(config, sources.tensors, sources.quantized);
  const { device = "cpu", precision = "float32" } = options.target ?? {};
  const prepared = { ...sources, tensors: joinedIfRead(config, sources) };
  const runtime = await runtimeFunctions();
  // The CPU operator that keeps keys and values in place does not support other head sizes or other rotated parts.
  const hasSizes = [config.head_dim, rotatedSize(config)].every((size) => size % 16 === 0);
  const isForOperator = device === "cpu" && precision === "float32" && hasSizes && !rotarySections(config);
  if (runtime && isForOperator) return createInPlaceDecoder(runtime, config, prepared, options);
  if (options.roundedBy) {
    const reason = !isForOperator
      ? `${device}, ${precision}, heads of ${config.head_dim} with ${rotatedSize(config)} rotated by RoPE; it is for float32 on the CPU and multiples of 16`
      : "ONNX Runtime's C API can't be called";
    throw new EverturnError("KEY_VALUES_NOT_ROUNDED", { reason });
  }
  try {
    return await createOther(runtime, config, prepared, options);
  } catch (error) {
    throw await deviceError(device, error);
  }
}

/** Uses a card's attention operator if it supports the model, otherwise plain operators. */
async function createOther(
  runtime: RuntimeFunctions | undefined,
  config: ModelConfig,
  sources: WeightSources,
  options: DecoderOptions,
): Promise<CachedDecoder> {
  const isOnWebgpu = options.target?.device === "webgpu";
  if (runtime && isOnWebgpu && isForWebgpu(runtime, config))
    return createWebgpuDecoder(runtime, config, sources, options);
  const kept = keyValueTypeOf(config, options.target);
  // The graph for CUDA has no input for embeddings of images.
  if (!runtime || config.vision || kept === "float32" || kept === "int8")
    return createPlainDecoder(config, sources, options);
  const halves = { ...options, precision: kept };
  return createCudaDecoder(runtime, config, sources, halves, await cudaMemory());
}

/**
 * Whether WebGPU's attention operator supports a model: heads of a multiple of 16, scores without a cap, and a card on
 * which it is correct.
 */
function isForWebgpu(runtime: RuntimeFunctions, config: ModelConfig): boolean {
  const { head_dim: size, num_attention_heads: heads, num_key_value_heads: groups } = config;
  if (size % 16 !== 0 || config.attn_logit_softcapping !== null || rotarySections(config)) return false;
  return attendsOnWebgpu(runtime, { heads, groups, size });
}

/** Joins weights with the same input in small models, whose weights were read. */
function joinedIfRead(
  config: ModelConfig,
  { folder, tensors, quantized }: WeightSources,
): WeightSources["tensors"] {
  if (folder !== undefined || quantized?.size) return tensors;
  const read = new Map<string, Tensor>();
  for (const [name, tensor] of tensors) if ("data" in tensor) read.set(name, tensor);
  return joinWeights(config, read);
}
