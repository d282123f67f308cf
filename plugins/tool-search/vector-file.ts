import { createHash } from "node:crypto";
import { createWriteStream, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Embedder } from "everturn/embedding";
import { builtOnce } from "./built-once.ts";
import { passages } from "./corpus.ts";
import { cacheFolder } from "./index-file.ts";

/** The number of passages that are embedded at once. */
const atOnce = 256;
const modelFiles = [
  "config.json",
  "sentence_bert_config.json",
  "tokenizer_config.json",
  "tokenizer.json",
  join("1_Pooling", "config.json"),
  "model.safetensors",
];

/**
 * Returns the file of a model's vectors of a corpus, in the order of the corpus. It is made once and stored
 * next to the index, named by the content of both. Throws the problems of either.
 */
export function vectorFile(
  corpus: string,
  digest: string,
  model: string,
  embedder: Embedder,
): Promise<string> {
  const hash = createHash("sha256");
  for (const name of modelFiles) {
    const path = join(model, name);
    if (statSync(path, { throwIfNoEntry: false }) !== undefined)
      hash.update(`${name}\0`).update(readFileSync(path));
  }
  const name = `${digest}-${hash.digest("hex").slice(0, 16)}.vectors`;
  return builtOnce(join(cacheFolder(), name), (work) =>
    pipeline(vectors(corpus, embedder), createWriteStream(work)),
  );
}

async function* vectors(corpus: string, embedder: Embedder): AsyncGenerator<Uint8Array> {
  let texts: string[] = [];
  for await (const { title, text } of passages(corpus)) {
    texts.push(title === "" ? text : `${title}\n${text}`);
    if (texts.length < atOnce) continue;
    yield bytesOf(await embedder.embed(texts));
    texts = [];
  }
  if (texts.length > 0) yield bytesOf(await embedder.embed(texts));
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
