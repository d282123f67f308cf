import { join } from "node:path";
import type { Tokenizer } from "@huggingface/tokenizers";
import { messageOf } from "../../base/errors/message-of.ts";
import { readSafetensors } from "../models/weights/safetensors.ts";
import { createModelSession } from "../onnx/create-model-session.ts";
import { modelBytes } from "../onnx/model-bytes.ts";
import { exactTokenizer } from "../tokens/exact-tokenizer.ts";
import { readJsonFile } from "../tokens/json-file.ts";
import { invalid, readEncoderConfig } from "./encoder-config.ts";
import { encoderGraph, type Weights } from "./encoder-graph.ts";

/** Turns texts into vectors, so that texts with a similar meaning can be found. */
export interface Embedder {
  /** Length of a vector. */
  readonly dimensions: number;
  /**
   * Returns a unit vector for each text, one after the other. Texts longer than the model's limit are cut. Throws
   * ONNX_RUN_FAILED.
   */
  embed(texts: readonly string[]): Promise<Float32Array>;
  /** Frees the model. */
  close(): Promise<void>;
}

/** Texts in one batch. They have similar lengths. */
const atOnce = 32;

/**
 * Opens an embedding model in sentence-transformers' format, such as all-MiniLM-L6-v2, from its folder: BERT's weights
 * in model.safetensors and WordPiece in tokenizer.json. Uses ONNX Runtime with `threads` threads (default 2). Throws
 * EMBEDDING_MODEL_INVALID, SAFETENSORS_INVALID, TOKENIZER_INVALID, NATIVE_FILES_MISSING.
 */
export async function openEmbedder(
  folder: string,
  { threads = 2 }: { threads?: number } = {},
): Promise<Embedder> {
  const config = await readEncoderConfig(folder);
  const tokens = await openTokens(folder, config.maxTokens);
  const tensors = await readSafetensors(join(folder, "model.safetensors"), isBuffer);
  const named = [...tensors.keys()].find((name) => name.endsWith("embeddings.word_embeddings.weight"));
  const prefix = named?.slice(0, named.indexOf("embeddings.")) ?? "";
  const rowsOf = (name: string) => tensors.get(prefix + name)?.shape[0] ?? 0;
  const weights: Weights = (name, shape) => {
    const found = tensors.get(prefix + name);
    if (found !== undefined && found.shape.join() === shape.join()) return found.data;
    throw invalid(folder, `its weights have ${name} as [${found?.shape ?? "nothing"}], not as [${shape}]`);
  };
  const graph = encoderGraph(config, weights, {
    vocabulary: rowsOf("embeddings.word_embeddings.weight"),
    positions: rowsOf("embeddings.position_embeddings.weight"),
    types: rowsOf("embeddings.token_type_embeddings.weight"),
    intermediate: rowsOf("encoder.layer.0.intermediate.dense.weight"),
  });
  const session = await createModelSession(modelBytes(graph), { threads });
  const dimensions = config.hiddenSize;

  async function batch(rows: readonly { ids: number[] }[]): Promise<Float32Array> {
    const length = Math.max(...rows.map((row) => row.ids.length));
    const shape = [rows.length, length];
    const ids = new BigInt64Array(rows.length * length).fill(BigInt(config.padToken));
    const positions = ids.map((_, index) => BigInt(index % length));
    const mask = new Float32Array(ids.length);
    for (const [row, { ids: own }] of rows.entries()) {
      ids.set(own.map(BigInt), row * length);
      mask.fill(1, row * length, row * length + own.length);
    }
    const feeds = { ids, positions, mask };
    const outputs = await session.run(
      Object.fromEntries(Object.entries(feeds).map(([name, data]) => [name, { shape, data }])),
    );
    const vectors = outputs.floats("vectors").slice();
    outputs.release();
    return vectors;
  }

  return {
    dimensions,
    async embed(texts) {
      const all = texts.map((text, index) => ({ index, ids: tokens(text) }));
      all.sort((a, b) => a.ids.length - b.ids.length);
      const vectors = new Float32Array(texts.length * dimensions);
      for (let start = 0; start < all.length; start += atOnce) {
        const some = all.slice(start, start + atOnce);
        const made = await batch(some);
        for (const [row, { index }] of some.entries())
          vectors.set(made.subarray(row * dimensions, (row + 1) * dimensions), index * dimensions);
      }
      return vectors;
    },
    close: () => session.close(),
  };
}

/** Whether a checkpoint's tensor is an integer buffer instead of a weight. */
function isBuffer(name: string): boolean {
  return name.endsWith("position_ids");
}

/**
 * Returns a text's tokens with the special tokens at both ends. Long texts keep their beginning and the final special
 * token.
 */
async function openTokens(folder: string, most: number): Promise<(text: string) => number[]> {
  const json = await readJsonFile(folder, "tokenizer.json");
  let tokenizer: Tokenizer;
  try {
    tokenizer = exactTokenizer(json);
  } catch (error) {
    throw invalid(folder, `tokenizer.json is refused: ${messageOf(error)}`);
  }
  return (text) => {
    const { ids } = tokenizer.encode(text, { add_special_tokens: true });
    return ids.length <= most ? ids : [...ids.slice(0, most - 1), ...ids.slice(-1)];
  };
}
