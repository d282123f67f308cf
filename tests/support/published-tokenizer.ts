import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type GgufHeader, readGgufHeader } from "../../src/engine/models/weights/gguf/header.ts";
import { writeTokenizerFiles } from "../../src/engine/models/weights/gguf/tokenizer-files.ts";
import { loadTokenizer, type Tokenizer } from "../../src/engine/tokens/tokenizer.ts";
import { fetchLlamaCpp } from "./llama-cpp.ts";

/**
 * The tokenizer of a published model, such as qwen2, by way of the files that an import writes into `folder`. `change`
 * may set keys of the metadata; there is a chat template unless it sets another one.
 */
export async function publishedTokenizer(
  model: string,
  folder: string,
  change: (metadata: GgufHeader["metadata"]) => void = () => {},
): Promise<Tokenizer> {
  const file = join(await fetchLlamaCpp(), `ggml-vocab-${model}.gguf`);
  mkdirSync(folder);
  const { metadata } = readGgufHeader(file);
  metadata.set("tokenizer.chat_template", "{{ messages }}");
  change(metadata);
  await writeTokenizerFiles(folder, file, metadata);
  return loadTokenizer(folder);
}

/** A chat template of a published model, such as google-gemma-2-2b-it. */
export async function publishedTemplate(name: string): Promise<string> {
  return readFile(join(await fetchLlamaCpp(), "templates", `${name}.jinja`), "utf8");
}
