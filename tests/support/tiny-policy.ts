import { readFileSync } from "node:fs";
import { join } from "node:path";
import policy from "../../plugins/policy-onnx/index.ts";
import { tokenizerFolder } from "./sample-plan.ts";

const architecture = {
  hidden_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  intermediate_size: 8,
};

/** Writes a policy of one small layer into `folder`. Returns the size of its vocabulary. */
export async function writeTinyPolicy(folder: string, contextLength = 32): Promise<number> {
  const config = {
    tokenizer: tokenizerFolder,
    architecture: { ...architecture, max_position_embeddings: contextLength },
  };
  await policy.initialize(folder, config, 1);
  const { vocab_size }: { vocab_size: number } = JSON.parse(
    readFileSync(join(folder, "config.json"), "utf8"),
  );
  return vocab_size;
}
