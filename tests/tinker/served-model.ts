import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import policy from "../../plugins/policy-onnx/index.ts";

/** The families of served models. SkyRL trains one A for all projections of a Qwen3 that read the same input. */
export type Family = "llama" | "qwen3";

const tokenizer = join(import.meta.dirname, "../../pipelines/calculator/tokenizer");

const architecture = {
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  intermediate_size: 64,
  max_position_embeddings: 256,
  initializer_range: 0.1,
};

/** Writes a tiny model with random weights that both a server and Everturn read. Returns the size of its vocabulary. */
export async function writeServedModel(folder: string, family: Family): Promise<number> {
  const shape = { ...architecture, model_type: family };
  await policy.initialize(folder, { tokenizer, architecture: shape }, 1);
  const file = join(folder, "config.json");
  const config: { vocab_size: number } = JSON.parse(await readFile(file, "utf8"));
  // SkyRL reads the newer name of torch_dtype.
  await writeFile(file, JSON.stringify({ ...config, dtype: "float32" }, null, 2));
  return config.vocab_size;
}
