import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TemplateSettings } from "../../tokens/fixed-template.ts";
import { loadTokenizer, type Tokenizer } from "../../tokens/tokenizer.ts";
import { contextLength } from "../config/model-config.ts";
import { readModelConfig } from "../config/model-config-file.ts";
import { configFromMetadata } from "../weights/gguf/config-metadata.ts";
import { readGgufHeader } from "../weights/gguf/header.ts";
import { writeTokenizerFiles } from "../weights/gguf/tokenizer-files.ts";
import { modelHere } from "./known-models.ts";

/** What of a model says how it reads text. */
export interface ModelText {
  tokenizer: Tokenizer;
  /** Tokens that it can hold at once. */
  contextLength: number;
}

/**
 * Reads a model's tokenizer and configuration, and none of its weights. `source` is what `importModel` takes;
 * `template`, a file, goes before the tokenizer's own chat template, which is told `settings`. Undefined for what would have to be downloaded, or
 * isn't there. Throws what the formats throw.
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
  return { tokenizer, contextLength: contextLength(config) };
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
