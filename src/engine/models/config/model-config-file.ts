import { readFile } from "node:fs/promises";
import { persistently } from "../../../base/files/persistently.ts";
import { isObject } from "../../../contracts/json.ts";
import { type Activation, type Family, families, isFamily } from "./families.ts";
import { checkCounts, configError, type ModelConfig, modelConfig } from "./model-config.ts";
import { formatExperts, parseExperts } from "./parse-experts.ts";
import { parseLayerTypes, parseSlidingWindow, parseUnrotatedLayers } from "./parse-layer-types.ts";
import { formatVision, languagePart, parseVision } from "./parse-vision.ts";
import { formatRotaryParameters, parseRotaryParameters } from "./rotary-parameters.ts";
import { isVisionFamily, visionFamilies } from "./vision-config.ts";

type Json = Record<string, unknown>;

/** Reads a model's config.json. Throws MODEL_CONFIG_INVALID, which names the key, for unsupported models. */
export async function readModelConfig(path: string): Promise<ModelConfig> {
  const text = await persistently(() => readFile(path, "utf8")).catch((cause: unknown) => {
    throw configError(`${path} can't be read`, cause);
  });
  return parseModelConfig(text, path);
}

/** Like `readModelConfig`, from the file's text; `path` appears in errors. */
export function parseModelConfig(text: string, path: string): ModelConfig {
  const json = parseObject(text, path);
  const { model_type: family } = json;
  if (!isVisionFamily(family)) return languageConfig(json, path);
  const config = languageConfig(languagePart(json, family, path), `${path}, text_config`);
  return modelConfig({ ...config, vision: parseVision(json, family, path) });
}

function languageConfig(json: Json, path: string): ModelConfig {
  const family = json.model_type;
  if (!isFamily(family)) {
    const known = [...Object.keys(families), ...Object.keys(visionFamilies)].join(", ");
    throw configError(`${path}: model_type is ${JSON.stringify(family)}; known are ${known}`);
  }
  const problem = unsupported(json, family);
  if (problem) throw configError(`${path}: ${problem}`);
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
  checkCounts({ num_hidden_layers: layers });
  const window = parseSlidingWindow(json, family);
  const unrotated = parseUnrotatedLayers(json, { family, layers, path });
  const cap = (name: string, usual?: number | null) => {
    const value = json[name] === undefined ? usual : json[name];
    return value === null || value === undefined ? null : number(name, Number(value));
  };
  const size = number("head_dim", traits.headSize ?? hidden / heads);
  return modelConfig({
    model_type: family,
    vocab_size: number("vocab_size"),
    hidden_size: hidden,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: number("num_key_value_heads", heads),
    head_dim: size,
    intermediate_size: number("intermediate_size"),
    max_position_embeddings: positions,
    rms_norm_eps: number("rms_norm_eps", traits.epsilon),
    ...parseRotaryParameters(json, { family, positions, size, path }),
    initializer_range: number("initializer_range", 0.02),
    tie_word_embeddings:
      typeof json.tie_word_embeddings === "boolean" ? json.tie_word_embeddings : traits.tied,
    hidden_act: activationOf(json, family) ?? traits.activation,
    attention_bias: traits.biases === "configured" && json.attention_bias === true,
    mlp_bias: traits.feedForwardBiases && json.mlp_bias === true,
    sliding_window: window,
    layer_types: parseLayerTypes(json, { family, layers, window, unrotated, path }),
    no_rope_layers: unrotated,
    experts: parseExperts(json, { family, layers, path }),
    query_pre_attn_scalar: number("query_pre_attn_scalar", traits.queryScalar ?? size),
    attn_logit_softcapping: cap("attn_logit_softcapping", traits.scoreCap),
    final_logit_softcapping: cap("final_logit_softcapping", traits.logitCap),
  });
}

/** Ids of the special tokens, for config.json. */
export interface SpecialTokenIds {
  bos_token_id: number | null;
  eos_token_id: number | readonly number[];
  pad_token_id: number | null;
}

/** Formats ids like eos_token_id: a number, or a list of several. */
export function oneOrList(ids: readonly number[]): number | readonly number[] {
  const [only] = ids;
  return only !== undefined && ids.length === 1 ? only : ids;
}

/**
 * Returns the config.json of a model as `transformers` reads it. Layer types are written only if a family's layers may
 * differ, because otherwise transformers can't build the masks of a Llama for its static cache.
 */
export function formatModelConfig(config: ModelConfig, tokens: SpecialTokenIds): string {
  const { rope_scaling, rope_theta, local_rope, partial_rotary_factor, ...fields } = config;
  const { layer_types, no_rope_layers, hidden_act, experts: _, vision, ...plain } = fields;
  const { query_pre_attn_scalar, attn_logit_softcapping, final_logit_softcapping, ...common } = plain;
  const { architecture, sliding, activationKey, ...traits } = families[config.model_type];
  const json = {
    architectures: [architecture],
    torch_dtype: "float32",
    ...common,
    [activationKey]: hidden_act,
    layer_types: sliding.named ? layer_types : undefined,
    no_rope_layers: no_rope_layers ?? undefined,
    ...formatExperts(config),
    query_pre_attn_scalar: traits.queryScalar !== undefined ? query_pre_attn_scalar : undefined,
    attn_logit_softcapping: traits.scoreCap !== undefined ? attn_logit_softcapping : undefined,
    final_logit_softcapping: traits.logitCap !== undefined ? final_logit_softcapping : undefined,
    use_sliding_window: config.sliding_window !== null,
    ...formatRotaryParameters(config),
  };
  const whole = { ...(vision ? formatVision(vision, json) : json), ...tokens };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

/** The activations by transformers' names. */
const activations: ReadonlyMap<unknown, Activation> = new Map([
  ["silu", "silu"],
  ["swish", "silu"],
  ["gelu", "gelu"],
  ["gelu_pytorch_tanh", "gelu_pytorch_tanh"],
  ["gelu_new", "gelu_pytorch_tanh"],
]);

/** Returns the activation; undefined if config.json sets none. Gemma's first releases call the approximation "gelu". */
function activationOf(json: Json, family: Family): Activation | undefined {
  const name = namedActivation(json, family);
  return family === "gemma" && name === "gelu" ? "gelu_pytorch_tanh" : activations.get(name);
}

/** Gemma's first releases name it by either key. */
function namedActivation(json: Json, family: Family): unknown {
  const { hidden_act, hidden_activation } = json;
  if (family === "gemma") return hidden_act ?? hidden_activation ?? undefined;
  return json[families[family].activationKey] ?? undefined;
}

/** Returns why a model can't be run, based on the key that requires it. */
function unsupported(json: Json, family: Family): string | undefined {
  const { partialRotation, queryScalar, scoreCap, logitCap } = families[family];
  const activation = namedActivation(json, family);
  const isSet = (name: string) => (json[name] ?? undefined) !== undefined;
  const drops = ["attention_dropout", "resid_pdrop", "embd_pdrop"].map((name): [string, boolean] => [
    name,
    Number(json[name] ?? 0) !== 0,
  ]);
  const refused: Record<string, boolean> = {
    [json.hidden_act ? "hidden_act" : "hidden_activation"]:
      activation !== undefined && !activations.has(activation),
    ...Object.fromEntries(drops),
    partial_rotary_factor: !partialRotation && Number(json.partial_rotary_factor ?? 1) !== 1,
    use_bidirectional_attention: json.use_bidirectional_attention === true,
    quantization_config: isSet("quantization_config"),
    clip_qkv: isSet("clip_qkv"),
    attn_logit_softcapping: scoreCap === undefined && isSet("attn_logit_softcapping"),
    final_logit_softcapping: logitCap === undefined && isSet("final_logit_softcapping"),
    query_pre_attn_scalar: queryScalar === undefined && isSet("query_pre_attn_scalar"),
  };
  const key = Object.keys(refused).find((name) => refused[name]);
  return key && `${key} ${JSON.stringify(json[key])} is not supported`;
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
