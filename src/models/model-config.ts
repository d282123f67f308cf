import { EverturnError } from "../errors/everturn-error.ts";
import { type Activation, type Family, families } from "./families.ts";
import type { RotaryScaling } from "./rotary-scaling.ts";

/** Whether a layer sees all earlier tokens, or those inside the sliding window. */
export type LayerType = "full_attention" | "sliding_attention";

/** The shape of a decoder; the fields are those of Hugging Face's config.json. */
export interface ModelConfig {
  model_type: Family;
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
  rope_scaling: RotaryScaling;
  /** Standard deviation of random weights. */
  initializer_range: number;
  tie_word_embeddings: boolean;
  hidden_act: Activation;
  /** Biases of all four attention projections (Qwen2 always has those of queries, keys and values). */
  attention_bias: boolean;
  mlp_bias: boolean;
  /** A token sees itself and this many less one before it, in layers of sliding attention. */
  sliding_window: number | null;
  /** One a layer. */
  layer_types: readonly LayerType[];
}

type Sizes =
  | "vocab_size"
  | "hidden_size"
  | "num_hidden_layers"
  | "num_attention_heads"
  | "intermediate_size"
  | "max_position_embeddings";

/** The fields without a default. */
export type ModelShape = Pick<ModelConfig, Sizes>;

/**
 * A checked configuration from its sizes. Defaults: a Llama, as many key-value heads as heads, head_dim =
 * hidden_size / heads (Qwen3 128, Gemma 256), epsilon 1e-6, rope_theta 10,000, no scaling, initializer_range 0.02,
 * untied embeddings (Gemma tied), no biases, full attention. Throws MODEL_CONFIG_INVALID.
 */
export function modelConfig(shape: ModelShape & Partial<ModelConfig>): ModelConfig {
  const model_type = shape.model_type ?? "llama";
  const traits = families[model_type];
  const heads = shape.num_attention_heads;
  const full: LayerType = "full_attention";
  const config: ModelConfig = {
    model_type,
    num_key_value_heads: heads,
    head_dim: traits.headSize ?? shape.hidden_size / heads,
    rms_norm_eps: traits.epsilon,
    rope_theta: traits.theta,
    rope_scaling: { rope_type: "default" },
    initializer_range: 0.02,
    tie_word_embeddings: traits.tied,
    hidden_act: traits.activation,
    attention_bias: false,
    mlp_bias: false,
    sliding_window: null,
    layer_types: Array.from({ length: shape.num_hidden_layers }, () => full),
    ...shape,
  };
  checkConfig(config);
  return config;
}

/** The window of a layer: undefined if it sees all earlier tokens. */
export function windowOf({ layer_types, sliding_window }: ModelConfig, layer: number): number | undefined {
  return layer_types[layer] === "sliding_attention" ? (sliding_window ?? undefined) : undefined;
}

/** The error of every configuration that is refused. */
export function configError(reason: string, cause?: unknown): EverturnError {
  return new EverturnError("MODEL_CONFIG_INVALID", { reason }, cause === undefined ? {} : { cause });
}

function checkConfig(config: ModelConfig): void {
  for (const [name, value] of Object.entries(config)) {
    if (typeof value === "number" && !(value > 0))
      throw configError(`${name} is ${value}, but must be above 0`);
  }
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  if (heads % groups !== 0)
    throw configError(`num_key_value_heads (${groups}) doesn't divide ${heads} heads`);
  if (!Number.isInteger(size) || size % 2 !== 0) {
    throw configError(
      `the head size (head_dim, or hidden_size / num_attention_heads = ${size}) must be an even number`,
    );
  }
  if (config.layer_types.length !== config.num_hidden_layers) {
    throw configError(
      `layer_types has ${config.layer_types.length} entries for ${config.num_hidden_layers} layers`,
    );
  }
}
