import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import { isThere } from "../../base/files/is-there.ts";
import { isObject } from "../../contracts/json.ts";

/** An encoder of BERT's family, with sentence-transformers' settings for its output. */
export interface EncoderConfig {
  hiddenSize: number;
  layers: number;
  heads: number;
  epsilon: number;
  /** The most tokens of a text, including the special tokens at both ends. Longer texts are cut. */
  maxTokens: number;
  /** How vectors are pooled: the mean of all tokens' vectors, or the first token's vector. */
  pooling: "mean" | "cls";
  padToken: number;
}

/** Reads config.json and the files that sentence-transformers keeps next to it. Throws EMBEDDING_MODEL_INVALID. */
export async function readEncoderConfig(folder: string): Promise<EncoderConfig> {
  const config = await readObject(folder, "config.json");
  const count = (name: string): number => {
    const value = config[name];
    if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
    throw invalid(folder, `config.json has no ${name}`);
  };
  const { model_type: type, hidden_act: activation, layer_norm_eps: epsilon, pad_token_id: pad } = config;
  if (type !== "bert") throw invalid(folder, `its model_type is ${JSON.stringify(type)}, not "bert"`);
  if (activation !== "gelu")
    throw invalid(folder, `its hidden_act is ${JSON.stringify(activation)}, not "gelu"`);
  const { position_embedding_type: positions = "absolute" } = config;
  if (positions !== "absolute") throw invalid(folder, `its positions are ${JSON.stringify(positions)}`);
  const [hiddenSize, heads] = [count("hidden_size"), count("num_attention_heads")];
  if (hiddenSize % heads !== 0) throw invalid(folder, `${heads} heads don't divide ${hiddenSize}`);
  const { max_seq_length: longest } = await readObject(folder, "sentence_bert_config.json", {});
  const { model_max_length: tokenizers } = await readObject(folder, "tokenizer_config.json", {});
  const lengths = [count("max_position_embeddings"), longest ?? tokenizers].map(Number);
  return {
    hiddenSize,
    heads,
    layers: count("num_hidden_layers"),
    epsilon: typeof epsilon === "number" ? epsilon : 1e-12,
    maxTokens: Math.min(...lengths.filter((one) => one > 2)),
    pooling: await readPooling(folder),
    padToken: typeof pad === "number" ? pad : 0,
  };
}

/** Default: the mean. */
async function readPooling(folder: string): Promise<EncoderConfig["pooling"]> {
  const said = await readObject(folder, join("1_Pooling", "config.json"), { pooling_mode: "mean" });
  const old = /^pooling_mode_(\w+?)(?:_tokens?)?$/;
  const named = Object.keys(said).filter((key) => said[key] === true && old.test(key));
  const modes = "pooling_mode" in said ? [said.pooling_mode] : named.map((key) => old.exec(key)?.[1]);
  const [mode] = modes;
  if (modes.length === 1 && (mode === "mean" || mode === "cls")) return mode;
  throw invalid(folder, `its pooling is ${JSON.stringify(modes)}; only "mean" and "cls" are known`);
}

async function readObject(
  folder: string,
  name: string,
  absent?: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const path = join(folder, name);
  if (absent !== undefined && !isThere(path)) return absent;
  try {
    const read: unknown = JSON.parse(await readFile(path, "utf8"));
    if (isObject(read)) return read;
  } catch (error) {
    throw invalid(folder, `${name}: ${messageOf(error)}`);
  }
  throw invalid(folder, `${name} is not a JSON object`);
}

/** Returns the error EMBEDDING_MODEL_INVALID. */
export function invalid(folder: string, reason: string): EverturnError {
  return new EverturnError("EMBEDDING_MODEL_INVALID", { folder, reason });
}
