import type { QuantizedMatrix } from "../../onnx/quantized-matrix.ts";
import type { Activations } from "../../onnx/quantized-products.ts";
import type { ModelConfig } from "../config/model-config.ts";
import type { Quantization } from "./quantize.ts";
import { storedQuantization } from "./stored-quantization.ts";

/**
 * Whether whole blocks of prompts are read on the processor by matrices that are widened for it: those of 8 bits, where rows are as they are. Not of
 * a mixture, whose experts get few rows each.
 */
export function widensBlocks(
  config: ModelConfig,
  quantization: Quantization | undefined,
  activations: Activations = "float32",
): boolean {
  return quantization === "int8" && !config.experts && activations === "float32";
}

/** The same of a folder's matrices. */
export function widensForBlocks(
  config: ModelConfig,
  folder: string | undefined,
  activations?: Activations,
): boolean {
  return folder !== undefined && widensBlocks(config, storedQuantization(folder), activations);
}

/** Columns of a product that a thread makes, at least, for the runtime to add them in an order that doesn't depend on the rows: more than 64. */
const columnsOfThread = 128;

/**
 * Whether a matrix is widened for whole blocks. Not narrow ones: of few columns the runtime adds longer parts of a sum at once, and how it deals columns to
 * threads depends on the rows.
 */
export function isWidened({ shape: [out = 0] }: QuantizedMatrix, threads: number): boolean {
  return out >= columnsOfThread * threads;
}
