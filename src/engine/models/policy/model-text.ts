import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TemplateSettings } from "../../tokens/fixed-template.ts";
import type { ImageFraming } from "../../tokens/image-framing.ts";
import { loadTokenizer, type Tokenizer } from "../../tokens/tokenizer.ts";
import { contextLength } from "../config/model-config.ts";
import { readModelConfig } from "../config/model-config-file.ts";
import { configFromMetadata } from "../weights/gguf/config-metadata.ts";
import { readGgufHeader } from "../weights/gguf/header.ts";
import { writeTokenizerFiles } from "../weights/gguf/tokenizer-files.ts";
import { readImageFraming } from "./image-text.ts";
import { modelHere } from "./known-models.ts";

/** The parts of a model that define how it reads text. */
export interface ModelText {
  tokenizer: Tokenizer;
  /** Most tokens of its context. */
  contextLength: number;
  /** How it reads images. Absent if it reads only text. */
  images?: ImageFraming | undefined;
}

/**
 * Reads a model's tokenizer and configuration without its weights. `source` is the same as for `importModel`.
 * `template`, a file, overrides the tokenizer's own chat template, and `settings` apply to it. Returns undefined if the
 * model must be downloaded first, or does not exist. Throws the formats' errors.
 */
export async function readModelText(
  source: string,
  template?: string,
  settings: TemplateSettings = {},
): Promise<ModelText | undefined> {
  const path = modelHere(source);
  if (path === undefined) return undefined;
  if (!statSync(path).isDirectory()) return readGgufText(path, template, settings);
  const tokenizer = await loadTokenizer(path, template, settings);
  const config = await readModelConfig(join(path, "config.json"));
  const images = await readImageFraming(path, config, tokenizer);
  return { tokenizer, contextLength: contextLength(config), images };
}

async function readGgufText(
  path: string,
  template: string | undefined,
  settings: TemplateSettings,
): Promise<ModelText> {
  const header = readGgufHeader(path);
  const folder = await mkdtemp(join(tmpdir(), "everturn-tokenizer-"));
  try {
    await writeTokenizerFiles(folder, path, header.metadata);
    const config = configFromMetadata(path, header);
    const tokenizer = await loadTokenizer(folder, template, settings);
    return { tokenizer, contextLength: contextLength(config) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
