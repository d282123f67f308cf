import { readFile } from "node:fs/promises";
import { EverturnError } from "../errors/everturn-error.ts";

/** The shape of a Llama-style model; the fields are those of Hugging Face's config.json. */
export interface LlamaConfig {
  vocab_size: number;
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  /** Must divide num_attention_heads. */
  num_key_value_heads: number;
  head_dim: number;
  intermediate_size: number;
  max_position_embeddings: number;
  rms_norm_eps: number;
  rope_theta: number;
  /** Standard deviation of random weights. */
  initializer_range: number;
  tie_word_embeddings: boolean;
}

type LlamaDefaults = Pick<
  LlamaConfig,
  "rms_norm_eps" | "rope_theta" | "initializer_range" | "tie_word_embeddings"
>;

const defaults: LlamaDefaults = {
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  initializer_range: 0.02,
  tie_word_embeddings: false,
};

/** The fields without a default. */
export type LlamaShape = Omit<LlamaConfig, keyof LlamaDefaults | "head_dim" | "num_key_value_heads">;

/**
 * A checked configuration from its sizes. Defaults: as many key-value heads as heads, head_dim = hidden_size /
 * heads, epsilon 1e-6, rope_theta 10,000, initializer_range 0.02, untied embeddings. Throws MODEL_CONFIG_INVALID.
 */
export function llamaConfig(shape: LlamaShape & Partial<LlamaConfig>): LlamaConfig {
  const heads = shape.num_attention_heads;
  const config = { ...defaults, num_key_value_heads: heads, head_dim: shape.hidden_size / heads, ...shape };
  for (const [name, value] of Object.entries(config)) {
    if (typeof value === "number" && !(value > 0)) throw invalid(`${name} is ${value}, but must be above 0`);
  }
  if (heads % config.num_key_value_heads !== 0) {
    throw invalid(`num_key_value_heads (${config.num_key_value_heads}) doesn't divide ${heads} heads`);
  }
  if (!Number.isInteger(config.head_dim) || config.head_dim % 2 !== 0) {
    throw invalid(
      `the head size (hidden_size / num_attention_heads = ${config.head_dim}) must be an even number`,
    );
  }
  return config;
}

/** Reads a config.json of a Llama-style model. Throws MODEL_CONFIG_INVALID for other or unreadable models. */
export async function readLlamaConfig(path: string): Promise<LlamaConfig> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw invalid(`${path} can't be read`, cause);
  });
  return parseLlamaConfig(text, path);
}

/** Like `readLlamaConfig`, from the file's text; `path` appears in errors. */
export function parseLlamaConfig(text: string, path: string): LlamaConfig {
  const json = parseObject(text, path);
  const rope = { ...objectAt(json, "rope_parameters"), ...objectAt(json, "rope_scaling") };
  const problem = unsupported(json, rope);
  if (problem) throw invalid(`${path}: ${problem}`);
  const number = (name: string, fallback?: number): number => {
    const value = json[name] ?? fallback;
    if (typeof value !== "number") throw invalid(`${path}: ${name} must be a number`);
    return value;
  };
  const hidden = number("hidden_size");
  const heads = number("num_attention_heads");
  const theta = typeof rope.rope_theta === "number" ? rope.rope_theta : defaults.rope_theta;
  return llamaConfig({
    vocab_size: number("vocab_size"),
    hidden_size: hidden,
    num_hidden_layers: number("num_hidden_layers"),
    num_attention_heads: heads,
    num_key_value_heads: number("num_key_value_heads", heads),
    head_dim: number("head_dim", hidden / heads),
    intermediate_size: number("intermediate_size"),
    max_position_embeddings: number("max_position_embeddings"),
    rms_norm_eps: number("rms_norm_eps", defaults.rms_norm_eps),
    rope_theta: number("rope_theta", theta),
    initializer_range: number("initializer_range", defaults.initializer_range),
    tie_word_embeddings: json.tie_word_embeddings === true,
  });
}

/** Ids of the special tokens, for config.json. */
export interface SpecialTokenIds {
  bos_token_id: number | null;
  eos_token_id: number;
  pad_token_id: number;
}

/** The config.json of a model, as `transformers` reads it. */
export function formatLlamaConfig(config: LlamaConfig, tokens: SpecialTokenIds): string {
  const json = {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    torch_dtype: "float32",
    hidden_act: "silu",
    attention_bias: false,
    mlp_bias: false,
    ...config,
    rope_parameters: { rope_type: "default", rope_theta: config.rope_theta },
    ...tokens,
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

function unsupported(json: Record<string, unknown>, rope: Record<string, unknown>): string | undefined {
  if (json.model_type !== "llama") return `model_type is ${JSON.stringify(json.model_type)}, not "llama"`;
  if (json.attention_bias || json.mlp_bias) return "biases are not supported";
  if (json.hidden_act !== undefined && json.hidden_act !== "silu") return `hidden_act ${json.hidden_act}`;
  const kind = rope.rope_type ?? rope.type ?? "default";
  return kind === "default" ? undefined : `rope scaling "${kind}" is not supported`;
}

function parseObject(text: string, path: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch (cause) {
    throw invalid(`${path} is not JSON`, cause);
  }
  throw invalid(`${path} is not a JSON object`);
}

function objectAt(json: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = json[name];
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(reason: string, cause?: unknown): EverturnError {
  return new EverturnError("MODEL_CONFIG_INVALID", { reason }, cause === undefined ? {} : { cause });
}
