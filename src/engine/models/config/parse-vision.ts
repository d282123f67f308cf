import { isObject } from "../../../contracts/json.ts";
import { checkCounts, configError } from "./model-config.ts";
import {
  type PatchVision,
  type VisionConfig,
  type VisionEncoderShape,
  visionFamilies,
} from "./vision-config.ts";

type Json = Record<string, unknown>;

/** Reads the vision part of a vision-language model's config.json; `path` appears in errors. */
export function parseVision(json: Json, family: VisionConfig["model_type"], path: string): VisionConfig {
  const { vision_config: own, image_token_id: token = visionFamilies[family].imageToken } = json;
  if (!isObject(own)) throw configError(`${path}: vision_config is missing`);
  if (typeof token !== "number" || !Number.isInteger(token) || token < 0) {
    throw configError(`${path}: image_token_id is ${JSON.stringify(token)}, but must be a token's id`);
  }
  const count = (from: Json, name: string, fallback: number): number => {
    const value = from[name] ?? fallback;
    if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
    throw configError(`${path}: ${name} is ${JSON.stringify(value)}, but must be a positive integer`);
  };
  if (family === "qwen2_5_vl") return parsePatchVision(json, own, token, count, path);
  const encoder: VisionEncoderShape = {
    hidden_size: count(own, "hidden_size", 1152),
    intermediate_size: count(own, "intermediate_size", 3072),
    num_hidden_layers: count(own, "num_hidden_layers", 12),
    num_attention_heads: count(own, "num_attention_heads", 16),
    image_size: count(own, "image_size", 224),
    patch_size: count(own, "patch_size", 32),
    layer_norm_eps: Number(own.layer_norm_eps ?? 1e-6),
    hidden_act: activationOf(own, path),
  };
  checkCounts(encoder);
  if (count(own, "num_channels", 3) !== 3) {
    throw configError(`${path}: num_channels of vision_config must be 3`);
  }
  if (encoder.hidden_size % encoder.num_attention_heads !== 0) {
    const heads = encoder.num_attention_heads;
    throw configError(
      `${path}: ${heads} heads don't divide vision_config's hidden_size ${encoder.hidden_size}`,
    );
  }
  const scale = count(json, "scale_factor", 2);
  const side = Math.floor(encoder.image_size / encoder.patch_size);
  if (side === 0 || side % scale !== 0) {
    throw configError(`${path}: scale_factor ${scale} doesn't divide a tile's ${side} patches a side`);
  }
  return {
    model_type: family,
    image_token_id: token,
    scale_factor: scale,
    vision_config: encoder,
  };
}

function parsePatchVision(
  json: Json,
  own: Json,
  token: number,
  count: (from: Json, name: string, fallback: number) => number,
  path: string,
): PatchVision {
  const { fullatt_block_indexes: full = [7, 15, 23, 31] } = own;
  const { mrope_section: sections = [16, 24, 24] } = rotaryOf(json) ?? {};
  const shape = {
    depth: count(own, "depth", 32),
    hidden_size: count(own, "hidden_size", 3584),
    intermediate_size: count(own, "intermediate_size", 3420),
    num_heads: count(own, "num_heads", 16),
    patch_size: count(own, "patch_size", 14),
    spatial_merge_size: count(own, "spatial_merge_size", 2),
    temporal_patch_size: count(own, "temporal_patch_size", 2),
    window_size: count(own, "window_size", 112),
    fullatt_block_indexes: numbersOf(full, "fullatt_block_indexes", path),
  };
  checkCounts({ num_hidden_layers: shape.depth, hidden_size: shape.hidden_size });
  if (count(own, "in_channels", 3) !== 3) throw configError(`${path}: in_channels must be 3`);
  if ((own.hidden_act ?? "silu") !== "silu")
    throw configError(`${path}: hidden_act of vision_config must be silu`);
  if (shape.hidden_size % (4 * shape.num_heads) !== 0) {
    const { num_heads: heads, hidden_size: size } = shape;
    throw configError(
      `${path}: vision_config's hidden_size ${size} is no multiple of 4 times ${heads} heads`,
    );
  }
  return {
    model_type: "qwen2_5_vl",
    image_token_id: token,
    mrope_section: numbersOf(sections, "mrope_section", path),
    vision_config: shape,
  };
}

/** Returns RoPE's settings of a language part, which older files have at the top level. */
function rotaryOf(json: Json): Json | undefined {
  const { rope_parameters, rope_scaling } = isObject(json.text_config) ? json.text_config : json;
  return [rope_parameters, rope_scaling].find(isObject);
}

function numbersOf(list: unknown, name: string, path: string): number[] {
  if (Array.isArray(list) && list.every((one) => Number.isInteger(one) && one >= 0)) return list.map(Number);
  throw configError(`${path}: ${name} must be a list of integers`);
}

/**
 * Returns the config.json of a vision-language model's language part. Older files of Qwen have it at the top level.
 */
export function languagePart(json: Json, family: VisionConfig["model_type"], path: string): Json {
  const { text_config } = json;
  const own = isObject(text_config) ? text_config : json;
  if (own === json && family !== "qwen2_5_vl") throw configError(`${path}: text_config is missing`);
  const { tie_word_embeddings = own.tie_word_embeddings ?? false } = json;
  if (family !== "qwen2_5_vl") return { ...own, tie_word_embeddings };
  const { mrope_section: _, type, rope_type = type, rope_theta, ...scaling } = rotaryOf(json) ?? {};
  const isPlain = rope_type === undefined || rope_type === "default" || rope_type === "mrope";
  return {
    ...own,
    model_type: "qwen2",
    tie_word_embeddings,
    rope_theta: rope_theta ?? own.rope_theta ?? 1_000_000,
    rope_parameters: undefined,
    rope_scaling: isPlain ? undefined : { rope_type, ...scaling },
  };
}

/** Returns the config.json of a vision-language model, except the tokens, from that of its language part. */
export function formatVision({ vision_config, ...vision }: VisionConfig, text: Json): Json {
  const { architectures: _, torch_dtype, ...language } = text;
  if (vision.model_type === "qwen2_5_vl") {
    const { mrope_section, ...tokens } = vision;
    const { rope_parameters, ...own } = language;
    const rope = {
      ...Object(rope_parameters ?? { rope_type: "default", rope_theta: own.rope_theta }),
      mrope_section,
    };
    return {
      architectures: [visionFamilies[vision.model_type].architecture],
      torch_dtype,
      ...tokens,
      tie_word_embeddings: text.tie_word_embeddings,
      text_config: { ...own, model_type: "qwen2_5_vl_text", rope_parameters: rope },
      vision_config: { model_type: "qwen2_5_vl_vision", out_hidden_size: own.hidden_size, ...vision_config },
    };
  }
  return {
    architectures: [visionFamilies[vision.model_type].architecture],
    torch_dtype,
    ...vision,
    tie_word_embeddings: text.tie_word_embeddings,
    text_config: language,
    vision_config: { model_type: `${vision.model_type}_vision`, num_channels: 3, ...vision_config },
  };
}

function activationOf(json: Json, path: string): VisionEncoderShape["hidden_act"] {
  const { hidden_act: name = "gelu_pytorch_tanh" } = json;
  if (name === "gelu" || name === "gelu_pytorch_tanh") return name;
  throw configError(`${path}: hidden_act ${JSON.stringify(name)} of vision_config is not supported`);
}
