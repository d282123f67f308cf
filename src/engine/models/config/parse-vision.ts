import { isObject } from "../../../contracts/json.ts";
import { checkCounts, configError } from "./model-config.ts";
import { type VisionConfig, type VisionEncoderShape, visionFamilies } from "./vision-config.ts";

type Json = Record<string, unknown>;

/** Reads the vision part of a vision-language model's config.json; `path` appears in errors. */
export function parseVision(json: Json, family: VisionConfig["model_type"], path: string): VisionConfig {
  const { vision_config: own } = json;
  if (!isObject(own)) throw configError(`${path}: vision_config is missing`);
  const count = (from: Json, name: string, fallback: number): number => {
    const value = from[name] ?? fallback;
    if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
    throw configError(`${path}: ${name} is ${JSON.stringify(value)}, but must be a positive integer`);
  };
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
  const { image_token_id: token = visionFamilies[family].imageToken } = json;
  if (typeof token !== "number" || !Number.isInteger(token) || token < 0) {
    throw configError(`${path}: image_token_id is ${JSON.stringify(token)}, but must be a token's id`);
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

/** Returns the config.json of a vision-language model, except the tokens, from that of its language part. */
export function formatVision({ vision_config, ...vision }: VisionConfig, text: Json): Json {
  const { architectures: _, torch_dtype, ...language } = text;
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
