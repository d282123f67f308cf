import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelOutline } from "../../../contracts/policy.ts";
import { formatModelConfig } from "../config/model-config-file.ts";
import { configFromMetadata } from "../weights/gguf/config-metadata.ts";
import { readGgufHeader } from "../weights/gguf/header.ts";
import type { Quantization } from "../weights/quantize.ts";
import { storedQuantization } from "../weights/stored-quantization.ts";
import { storedType } from "../weights/weight-sources.ts";
import { modelHere } from "./known-models.ts";

const matrixTypes = { F32: "float32", F16: "float16", BF16: "bfloat16" } as const;

/**
 * Describes the model that `importModel` would write, as far as the memory of training depends on it. Does not read
 * weights. Returns undefined if `source` must be downloaded first, or does not exist. Throws the formats' errors.
 */
export async function modelOutline(
  source: string,
  quantization?: Quantization,
): Promise<ModelOutline | undefined> {
  const path = modelHere(source);
  if (path === undefined) return undefined;
  if (!statSync(path).isDirectory()) {
    const config = configFromMetadata(path, readGgufHeader(path));
    const tokens = { bos_token_id: null, eos_token_id: [], pad_token_id: null };
    return { config: formatModelConfig(config, tokens), matrices: quantization ?? "float32" };
  }
  const config = await readFile(join(path, "config.json"), "utf8");
  const matrices = quantization ?? storedQuantization(path) ?? matrixTypes[await storedType(path)];
  return { config, matrices };
}
