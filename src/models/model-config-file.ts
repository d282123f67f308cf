import { readFile } from "node:fs/promises";
import { isObject } from "../contracts/json.ts";
import { type Activation, type Family, families, isFamily } from "./families.ts";
import { configError, type ModelConfig, modelConfig } from "./model-config.ts";
import { parseLayerTypes, parseSlidingWindow } from "./parse-layer-types.ts";
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
  const positions = number("max_position_embeddings");
  const rope = rotaryParameters(json);
  const theta = typeof rope.rope_theta === "number" ? rope.rope_theta : number("rope_theta", traits.theta);
  const window = parseSlidingWindow(json, family);
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
    rope_theta: theta,
    rope_scaling: parseRotaryScaling(rope, positions, path),
    initializer_range: number("initializer_range", 0.02),
    tie_word_embeddings:
      typeof json.tie_word_embeddings === "boolean" ? json.tie_word_embeddings : traits.tied,
    hidden_act: activationOf(json, family) ?? traits.activation,
    attention_bias: traits.biases === "configured" && json.attention_bias === true,
    mlp_bias: family === "llama" && json.mlp_bias === true,
    sliding_window: window,
    layer_types: parseLayerTypes(json, { family, layers, window, path }),
  });
}

/** Ids of the special tokens, for config.json. */
export interface SpecialTokenIds {
  bos_token_id: number | null;
  eos_token_id: number | readonly number[];
  pad_token_id: number | null;
}

/** Ids as eos_token_id has them: a number, or a list of several. */
export function oneOrList(ids: readonly number[]): number | readonly number[] {
  const [only] = ids;
  return only !== undefined && ids.length === 1 ? only : ids;
}

/**
 * The config.json of a model, as `transformers` reads it. Kinds of layers are named only where a family's may differ:
 * transformers can't build the masks of a Llama for its static cache where they are.
 */
export function formatModelConfig(config: ModelConfig, tokens: SpecialTokenIds): string {
  const { rope_scaling, rope_theta, layer_types, ...fields } = config;
  const { architecture, sliding } = families[config.model_type];
  const json = {
    architectures: [architecture],
    torch_dtype: "float32",
    ...fields,
    ...(sliding === "chosen" ? { layer_types } : {}),
    use_sliding_window: config.sliding_window !== null,
    rope_parameters: { ...rope_scaling, rope_theta },
    ...tokens,
  };
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** transformers' names of the activations that there are. */
const activations: ReadonlyMap<unknown, Activation> = new Map([
  ["silu", "silu"],
  ["swish", "silu"],
  ["gelu", "gelu"],
  ["gelu_pytorch_tanh", "gelu_pytorch_tanh"],
  ["gelu_new", "gelu_pytorch_tanh"],
]);

/** Undefined where config.json says nothing. Gemma's first releases call the approximation "gelu". */
function activationOf(json: Json, family: Family): Activation | undefined {
  const name = namedActivation(json);
  return family === "gemma" && name === "gelu" ? "gelu_pytorch_tanh" : activations.get(name);
}

/** `hidden_activation` is Gemma's. */
function namedActivation({ model_type, hidden_act, hidden_activation }: Json): unknown {
  return hidden_act ?? (model_type === "gemma" ? hidden_activation : undefined) ?? undefined;
}

/** Why a model can't be run, by the key that says so. */
function unsupported(json: Json): string | undefined {
  const activation = namedActivation(json);
  const isSet = (name: string) => (json[name] ?? undefined) !== undefined;
  const refused: Record<string, boolean> = {
    [json.hidden_act ? "hidden_act" : "hidden_activation"]:
      activation !== undefined && !activations.has(activation),
    attention_dropout: Number(json.attention_dropout ?? 0) !== 0,
    pretraining_tp: Number(json.pretraining_tp ?? 1) !== 1,
    partial_rotary_factor: Number(json.partial_rotary_factor ?? 1) !== 1,
    use_bidirectional_attention: json.use_bidirectional_attention === true,
    quantization_config: isSet("quantization_config"),
    attn_logit_softcapping: isSet("attn_logit_softcapping"),
    final_logit_softcapping: isSet("final_logit_softcapping"),
    query_pre_attn_scalar: isSet("query_pre_attn_scalar"),
  };
  const key = Object.keys(refused).find((name) => refused[name]);
  return key && `${key} ${JSON.stringify(json[key])} is not supported`;
}

/** `rope_scaling` is the older name, and goes first. */
function rotaryParameters(json: Json): Json {
  const { max_position_embeddings, original_max_position_embeddings: original } = json;
  const [older, newer] = [objectAt(json, "rope_scaling"), objectAt(json, "rope_parameters")];
  const rope = Object.keys(older).length > 0 ? older : newer;
  return {
    original_max_position_embeddings: max_position_embeddings,
    ...rope,
    ...(typeof original === "number" && { original_max_position_embeddings: original }),
  };
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
