import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { type Activation, type Family, families } from "./families.ts";
import type { RotaryScaling } from "./rotary-scaling.ts";
import { rotarySections, type VisionConfig } from "./vision-config.ts";

/** Whether a layer sees all earlier tokens, or only those inside the sliding window. */
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
  /** In layers of sliding attention, a token sees itself and the `sliding_window` − 1 tokens before it. */
  sliding_window: number | null;
  /** One per layer. */
  layer_types: readonly LayerType[];
  /** RoPE of layers of sliding attention. Null: like the other layers. */
  local_rope: { rope_theta: number; rope_scaling: RotaryScaling } | null;
  /** The part of a head that RoPE rotates, from its beginning. The rest stays unchanged. */
  partial_rotary_factor: number;
  /** For each layer 1 if it has RoPE, 0 if not. Null: all have it. */
  no_rope_layers: readonly (0 | 1)[] | null;
  /** Scores are divided by its square root. */
  query_pre_attn_scalar: number;
  /** Scores s become cap · tanh(s / cap). */
  attn_logit_softcapping: number | null;
  /** Logits likewise. */
  final_logit_softcapping: number | null;
  /** Null: every feed-forward block is one gated unit. */
  experts: Experts | null;
  /** The vision part of a vision-language model. Null: the model reads only text. */
  vision: VisionConfig | null;
}

/** Mixtures of experts as feed-forward blocks. */
export interface Experts {
  num_experts: number;
  /** The number of experts that a token passes through. */
  num_experts_per_tok: number;
  /** The size of an expert's gated unit. intermediate_size is that of layers without experts. */
  moe_intermediate_size: number;
  /** Whether the probabilities of the chosen experts are divided by their sum. */
  norm_topk_prob: boolean;
  /** Layers without experts. */
  mlp_only_layers: readonly number[];
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
 * Returns a checked configuration from its sizes. Defaults: a Llama, as many key-value heads as heads, head_dim =
 * hidden_size / heads, no scaling, initializer_range 0.02, no biases, full attention, RoPE in every layer. The family
 * determines epsilon, rope_theta, caps, and whether embeddings are tied. Throws MODEL_CONFIG_INVALID.
 */
export function modelConfig(shape: ModelShape & Partial<ModelConfig>): ModelConfig {
  const model_type = shape.model_type ?? "llama";
  const traits = families[model_type];
  const { num_hidden_layers, num_attention_heads: heads } = shape;
  checkCounts({ num_hidden_layers });
  const full: LayerType = "full_attention";
  const size = shape.head_dim ?? traits.headSize ?? shape.hidden_size / heads;
  const config: ModelConfig = {
    model_type,
    num_key_value_heads: heads,
    head_dim: size,
    rms_norm_eps: traits.epsilon,
    rope_theta: traits.theta,
    rope_scaling: { rope_type: "default" },
    initializer_range: 0.02,
    tie_word_embeddings: traits.tied,
    hidden_act: traits.activation,
    attention_bias: false,
    mlp_bias: false,
    sliding_window: null,
    layer_types: Array.from({ length: num_hidden_layers }, () => full),
    local_rope:
      traits.localTheta === undefined
        ? null
        : { rope_theta: traits.localTheta, rope_scaling: { rope_type: "default" } },
    partial_rotary_factor: 1,
    no_rope_layers: null,
    query_pre_attn_scalar: traits.queryScalar ?? size,
    attn_logit_softcapping: traits.scoreCap ?? null,
    final_logit_softcapping: traits.logitCap ?? null,
    experts: null,
    vision: null,
    ...shape,
  };
  checkConfig(config);
  return config;
}

/** Returns the window of a layer; undefined if it sees all earlier tokens. */
export function windowOf({ layer_types, sliding_window }: ModelConfig, layer: number): number | undefined {
  return layer_types[layer] === "sliding_attention" ? (sliding_window ?? undefined) : undefined;
}

/** Returns the experts of a layer; undefined if its feed-forward block is one gated unit. */
export function expertsOf({ experts }: ModelConfig, layer: number): Experts | undefined {
  return experts === null || experts.mlp_only_layers.includes(layer) ? undefined : experts;
}

/** Returns the most tokens of a sequence. With LongRoPE, the length that its short factors are made for. */
export function contextLength({ max_position_embeddings: most, rope_scaling }: ModelConfig): number {
  return rope_scaling.rope_type === "longrope"
    ? Math.min(most, rope_scaling.original_max_position_embeddings)
    : most;
}

/** Returns the factor that turns products of queries and keys into scores. */
export function scoreScale({ query_pre_attn_scalar }: ModelConfig): number {
  return query_pre_attn_scalar ** -0.5;
}

/** Returns how many numbers of a head RoPE rotates. */
export function rotatedSize({ head_dim, partial_rotary_factor }: ModelConfig): number {
  return Math.floor(head_dim * partial_rotary_factor);
}

/** The largest accepted counts: far above any published model, and small enough to list. */
const largestCounts = new Map([
  ["vocab_size", 2 ** 24],
  ["hidden_size", 2 ** 20],
  ["num_hidden_layers", 2 ** 12],
  ["num_attention_heads", 2 ** 14],
  ["num_key_value_heads", 2 ** 14],
  ["intermediate_size", 2 ** 22],
  ["max_position_embeddings", 2 ** 32],
  ["num_experts", 2 ** 12],
  ["moe_intermediate_size", 2 ** 22],
]);

/** Throws MODEL_CONFIG_INVALID unless each count in `config` is a positive integer within these limits. */
export function checkCounts(config: object): void {
  for (const [key, value] of Object.entries(config)) {
    const most = largestCounts.get(key);
    if (most === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) continue;
    throw configError(`${key} is ${value}, but must be a whole number from 1 to ${most}`);
  }
}

/** Returns the error for an invalid configuration. */
export function configError(reason: string, cause?: unknown): EverturnError {
  return new EverturnError("MODEL_CONFIG_INVALID", { reason }, cause === undefined ? {} : { cause });
}

function checkConfig(config: ModelConfig): void {
  const { vision, vocab_size } = config;
  if (vision && vision.image_token_id >= vocab_size) {
    throw configError(`image_token_id is ${vision.image_token_id}, outside the vocabulary of ${vocab_size}`);
  }
  const sections = rotarySections(config);
  const pairs = sections?.reduce((sum, count) => sum + count, 0);
  if (sections && pairs !== rotatedSize(config) / 2) {
    throw configError(`mrope_section ${sections} must add up to ${rotatedSize(config) / 2} pairs of a head`);
  }
  for (const [name, value] of Object.entries(config)) {
    if (typeof value === "number" && !(value > 0))
      throw configError(`${name} is ${value}, but must be above 0`);
  }
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  if (!Number.isInteger(size) || size % 2 !== 0) {
    throw configError(
      `the head size (head_dim, or hidden_size / num_attention_heads = ${size}) must be an even number`,
    );
  }
  const { experts: mixture } = config;
  checkCounts(config);
  checkCounts(mixture ?? {});
  if (heads % groups !== 0)
    throw configError(`num_key_value_heads (${groups}) doesn't divide ${heads} heads`);
  if (rotatedSize(config) % 2 !== 0) {
    throw configError(
      `partial_rotary_factor ${config.partial_rotary_factor} of heads of ${size} must be an even number`,
    );
  }
  const { intermediate_size: inner, model_type } = config;
  const { num_experts: experts = 1, num_experts_per_tok: chosen = 1 } = mixture ?? {};
  if (!(chosen >= 1 && chosen <= experts)) {
    throw configError(`num_experts_per_tok (${chosen}) must be 1 to num_experts (${experts})`);
  }
  if (
    families[model_type].experts?.sizeKey === "intermediate_size" &&
    mixture?.moe_intermediate_size !== inner
  ) {
    throw configError(`an ${model_type} model has experts of intermediate_size (${inner}) in each layer`);
  }
  if (config.layer_types.length !== config.num_hidden_layers) {
    throw configError(
      `layer_types has ${config.layer_types.length} entries for ${config.num_hidden_layers} layers`,
    );
  }
}
