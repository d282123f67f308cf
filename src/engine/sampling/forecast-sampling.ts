import { defined } from "../../base/records/defined.ts";
import type { ModelOutline, SamplingForecast } from "../../contracts/policy.ts";
import type { ModelConfig } from "../models/config/model-config.ts";
import { parseModelConfig } from "../models/config/model-config-file.ts";
import type { KeyValueType } from "../models/decode/key-values.ts";
import { modelWeightShapes } from "../models/weights/model-weights.ts";
import { blockFormat, quantizationOf } from "../models/weights/quantize.ts";
import { widensBlocks } from "../models/weights/widened-blocks.ts";
import { elementCount } from "../onnx/element-count.ts";
import { frozenBytes } from "../onnx/frozen-matrix.ts";
import type { Activations } from "../onnx/quantized-products.ts";
import { leastKeyValues, planMemory, usualKeyValueBytes, versionBytes } from "./memory-check.ts";

/** The settings of a sampler on the CPU. */
export interface SamplingAsked {
  slots: number;
  /** Most bytes of keys and values. Default: the sampler's. */
  keyValueBytes?: number;
  keyValues: KeyValueType;
  activations: Activations;
}

/**
 * Forecasts the memory that a sampler on the CPU plans for a model, without reading its weights. Throws
 * MODEL_CONFIG_UNSUPPORTED.
 */
export function forecastSampling(
  { config: text, matrices }: ModelOutline,
  { slots, keyValueBytes, keyValues, activations }: SamplingAsked,
): SamplingForecast {
  const config = parseModelConfig(text, "config.json");
  const quantization = quantizationOf(matrices);
  const plan = planMemory(config, slots, {
    keyValueBytes: keyValueBytes ?? usualKeyValueBytes(),
    keyValues,
    weights: versionBytes(config, {
      fewBits: quantization && fewBitsBytes(config, quantization),
      isWidened: widensBlocks(config, quantization, activations),
    }),
  });
  const least = leastKeyValues(plan.keyValues, keyValueBytes !== undefined);
  const images = plan.images === 0 ? undefined : plan.images;
  return defined({ weights: plan.weights, images, keyValues: { least, most: plan.keyValues } });
}

/** Returns the bytes of a model with quantized matrices. */
function fewBitsBytes(config: ModelConfig, quantization: "int8" | "int4"): number {
  const bytes = [...modelWeightShapes(config)].map(([name, shape]) => {
    const format = blockFormat(name, shape, quantization);
    return format ? frozenBytes({ shape, ...format }) : 4 * elementCount(shape);
  });
  return bytes.reduce((total, one) => total + one, 0);
}
