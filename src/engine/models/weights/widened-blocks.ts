import type { QuantizedMatrix } from "../../onnx/quantized-matrix.ts";
import type { Activations } from "../../onnx/quantized-products.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { Quantization } from "./quantize.ts";
import { storedQuantization } from "./stored-quantization.ts";

/**
 * Whether whole blocks of prompts are read on the CPU with matrices that are widened for it: 8-bit ones, if rows are
 * not rounded. Not in mixtures, whose experts get few rows each.
 */
export function widensBlocks(
  config: ModelConfig,
  quantization: Quantization | undefined,
  activations: Activations = "float32",
): boolean {
  return quantization === "int8" && !config.experts && activations === "float32";
}

/** Whether the matrices in a folder are widened for whole blocks. */
export function widensForBlocks(
  config: ModelConfig,
  folder: string | undefined,
  activations?: Activations,
): boolean {
  return folder !== undefined && widensBlocks(config, storedQuantization(folder), activations);
}

/**
 * The least number of columns of a product per thread with which the runtime's order of additions doesn't depend on the
 * rows: more than 64.
 */
const columnsOfThread = 128;

/**
 * Whether a matrix is widened for whole blocks. Narrow ones are not. With few columns the runtime adds longer parts of
 * a sum at a time, and how it assigns columns to threads depends on the rows.
 */
export function isWidened({ shape: [out = 0] }: QuantizedMatrix, threads: number): boolean {
  return out >= columnsOfThread * threads;
}
