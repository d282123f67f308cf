import { readFile } from "node:fs/promises";
import { families, isFamily } from "./families.ts";
import { configError, type LayerType, type ModelConfig, modelConfig } from "./model-config.ts";
import { parseRotaryScaling } from "./parse-rotary-scaling.ts";

type Json = Record<string, unknown>;

/** Reads a model's config.json. Throws MODEL_CONFIG_INVALID, naming the key, for what is not supported. */
export async function readModelConfig(path: string): Promise<ModelConfig> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw configError(`${path} can't be read`, cause);
  });
  return parseModelConfig(text, path);
}

/** Like `readModelConfig`, from the file's text; `path` appears in errors. */
export function parseModelConfig(text: string, path: string): ModelConfig {
  const json = parseObject(text, path);
  const problem = unsupported(json);
  if (problem) throw configError(`${path}: ${problem}`);
  const family = json.model_type;
  if (!isFamily(family)) {
    const known = Object.keys(families).join(", ");
    throw configError(`${path}: model_type is ${JSON.stringify(family)}; known are ${known}`);
  }
  const traits = families[family];
  const number = (name: string, fallback?: number): number => {
    const value = json[name] ?? fallback;
    if (typeof value !== "number") throw configError(`${path}: ${name} must be a number`);
    return value;
  };
  const hidden = number("hidden_size");
  const heads = number("num_attention_heads");
  const layers = number("num_hidden_layers");
  const rope = { ...objectAt(json, "rope_parameters"), ...objectAt(json, "rope_scaling") };
  const theta = typeof rope.rope_theta === "number" ? rope.rope_theta : traits.theta;
  const positions = number("max_position_embeddings");
  const window = slidingWindow(json);
  const activation = json.hidden_act ?? json.hidden_activation;
  return modelConfig({
    model_type: family,
    vocab_size: number("vocab_size"),
    hidden_size: hidden,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: number("num_key_value_heads", heads),
    head_dim: number("head_dim", traits.headSize ?? hidden / heads),
    intermediate_size: number("intermediate_size"),
    max_position_embeddings: positions,
    rms_norm_eps: number("rms_norm_eps", traits.epsilon),
    rope_theta: number("rope_theta", theta),
    rope_scaling: parseRotaryScaling(rope, positions, path),
    initializer_range: number("initializer_range", 0.02),
    tie_word_embeddings:
      typeof json.tie_word_embeddings === "boolean" ? json.tie_word_embeddings : traits.tied,
    hidden_act: activation === "silu" || activation === "gelu_pytorch_tanh" ? activation : traits.activation,
    attention_bias: traits.biases === "configured" && json.attention_bias === true,
    mlp_bias: family === "llama" && json.mlp_bias === true,
    sliding_window: window,
    layer_types: layerTypes(json, layers, window, path),
  });
}

/** Ids of the special tokens, for config.json. */
export interface SpecialTokenIds {
  bos_token_id: number | null;
  eos_token_id: number | readonly number[];
  pad_token_id: number | null;
}

/** The config.json of a model, as `transformers` reads it. */
export function formatModelConfig(config: ModelConfig, tokens: SpecialTokenIds): string {
  const { rope_scaling, rope_theta, ...fields } = config;
  const json = {
    architectures: [families[config.model_type].architecture],
    torch_dtype: "float32",
    ...fields,
    use_sliding_window: config.sliding_window !== null,
    rope_parameters: { ...rope_scaling, rope_theta },
    ...tokens,
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Why a model can't be run, by the key that says so. */
function unsupported(json: Json): string | undefined {
  const activations = [undefined, "silu", "gelu_pytorch_tanh", "gelu"];
  const activation = json.hidden_act ?? json.hidden_activation ?? undefined;
  const refused: Record<string, boolean> = {
    hidden_act: !activations.some((known) => known === activation),
    attention_dropout: Number(json.attention_dropout ?? 0) !== 0,
    pretraining_tp: Number(json.pretraining_tp ?? 1) !== 1,
    partial_rotary_factor: Number(json.partial_rotary_factor ?? 1) !== 1,
    use_bidirectional_attention: json.use_bidirectional_attention === true,
    quantization_config: json.quantization_config !== undefined && json.quantization_config !== null,
  };
  const key = Object.keys(refused).find((name) => refused[name]);
  return key && `${key} ${JSON.stringify(json[key])} is not supported`;
}

/** Mistral has a window if it names one; Qwen only if it says so. */
function slidingWindow(json: Json): number | null {
  const window = typeof json.sliding_window === "number" ? json.sliding_window : null;
  if (json.model_type === "mistral") return window;
  return json.use_sliding_window === true ? window : null;
}

function layerTypes(json: Json, layers: number, window: number | null, path: string): LayerType[] {
  const given = json.layer_types;
  if (Array.isArray(given)) {
    return given.map((type: unknown) => {
      if (type === "full_attention" || type === "sliding_attention") return type;
      throw configError(`${path}: layer_types holds ${JSON.stringify(type)}, which is not supported`);
    });
  }
  const full = json.model_type === "mistral" ? 0 : Number(json.max_window_layers ?? 28);
  return Array.from({ length: layers }, (_, layer) =>
    window !== null && layer >= full ? "sliding_attention" : "full_attention",
  );
}

function parseObject(text: string, path: string): Json {
  try {
    const json: unknown = JSON.parse(text);
    if (isObject(json)) return json;
  } catch (cause) {
    throw configError(`${path} is not JSON`, cause);
  }
  throw configError(`${path} is not a JSON object`);
}

function objectAt(json: Json, name: string): Json {
  const value = json[name];
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
