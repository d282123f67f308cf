/** The model families, by config.json's model_type. */
export type Family =
  | "llama"
  | "mistral"
  | "qwen2"
  | "qwen3"
  | "qwen3_moe"
  | "olmoe"
  | "smollm3"
  | "phi3"
  | "gemma"
  | "gemma2"
  | "gemma3_text";

/** The differences between a family and the others. */
export interface FamilyTraits {
  /** The class of `transformers`. */
  architecture: string;
  /** Which projections have biases: always those of queries, keys and values; as config.json defines; or none. */
  biases: "queries-keys-values" | "configured" | "none";
  /** Whether `mlp_bias` is read. */
  feedForwardBiases: boolean;
  /** RMSNorm of queries and keys before their rotation: of each head separately, or of all heads together. */
  queryKeyNorm: "heads" | "together" | "none";
  /** Norms multiply by 1 + weight, and embeddings by √hidden_size. */
  gemmaScaling: boolean;
  /** Attention and feed-forward block also have a norm after them, before their output is added. */
  normsAfter: boolean;
  /**
   * One weight contains those of queries, keys and values (qkv_proj), and one both halves of the gated unit
   * (gate_up_proj).
   */
  fused: boolean;
  /** `partial_rotary_factor` may be less than 1. */
  partialRotation: boolean;
  /** Some layers have no RoPE: every `no_rope_layer_interval`-th layer, or those with a 0 in `no_rope_layers`. */
  unrotatedLayers: boolean;
  /** The key that names the activation, and the default activation of config.json. */
  activationKey: "hidden_act" | "hidden_activation";
  activation: Activation;
  sliding: SlidingTraits;
  /** The traits of mixtures of experts in feed-forward blocks. Null if there are none. */
  experts: ExpertTraits | null;
  tied: boolean;
  headSize?: number;
  epsilon: number;
  theta: number;
  /** The base of RoPE in layers of sliding attention, if they have their own. */
  localTheta?: number;
  /** The default of `query_pre_attn_scalar`. Scores are divided by its square root. */
  queryScalar?: number;
  /** The default of `attn_logit_softcapping`. Absent if the family has none. */
  scoreCap?: number;
  /** The default of `final_logit_softcapping`. Null if the family has none. */
  logitCap?: number | null;
}

/** The traits of a family's mixtures of experts. */
export interface ExpertTraits {
  /**
   * The key of an expert's size: a separate one, next to that of layers without experts, or the latter's if each layer
   * has experts.
   */
  sizeKey: "moe_intermediate_size" | "intermediate_size";
  /** The default number of experts. */
  count: number;
  /** Whether llama.cpp divides the probabilities of the chosen experts by their sum. */
  normalizedByLlamaCpp: boolean;
}

/** Which layers see only a sliding window. */
export interface SlidingTraits {
  /**
   * Default for layers that `layer_types` does not list: none, all, those from `max_window_layers` on, all but every
   * `interval`-th, or those without RoPE.
   */
  layers: "none" | "all" | "later" | "but-every" | "unrotated";
  interval?: number;
  /** Whether `layer_types` is used. */
  named: boolean;
  /** Whether there is a window only if config.json sets use_sliding_window. */
  onlyIfUsed: boolean;
  /** The default window; null: no window. */
  usual: number | null;
}

/** The gate's activation in the feed-forward block. */
export type Activation = "silu" | "gelu" | "gelu_pytorch_tanh";

const chosen: SlidingTraits = { layers: "later", named: true, onlyIfUsed: true, usual: 4096 };

const plain: Omit<FamilyTraits, "architecture"> = {
  biases: "configured",
  feedForwardBiases: false,
  queryKeyNorm: "none",
  gemmaScaling: false,
  normsAfter: false,
  fused: false,
  partialRotation: false,
  unrotatedLayers: false,
  activationKey: "hidden_act",
  activation: "silu",
  sliding: { layers: "none", named: false, onlyIfUsed: false, usual: null },
  experts: null,
  tied: false,
  epsilon: 1e-6,
  theta: 10_000,
};

const gemma: Omit<FamilyTraits, "architecture"> = {
  ...plain,
  gemmaScaling: true,
  activation: "gelu_pytorch_tanh",
  tied: true,
  headSize: 256,
};

const laterGemma: Omit<FamilyTraits, "architecture"> = {
  ...gemma,
  normsAfter: true,
  activationKey: "hidden_activation",
  queryScalar: 256,
};

/** The traits of each family, as `transformers` defines them. */
export const families: Readonly<Record<Family, FamilyTraits>> = {
  llama: { ...plain, architecture: "LlamaForCausalLM", feedForwardBiases: true },
  mistral: {
    ...plain,
    architecture: "MistralForCausalLM",
    biases: "none",
    sliding: { layers: "all", named: false, onlyIfUsed: false, usual: 4096 },
  },
  qwen2: { ...plain, architecture: "Qwen2ForCausalLM", biases: "queries-keys-values", sliding: chosen },
  qwen3: {
    ...plain,
    architecture: "Qwen3ForCausalLM",
    sliding: chosen,
    queryKeyNorm: "heads",
    headSize: 128,
  },
  qwen3_moe: {
    ...plain,
    architecture: "Qwen3MoeForCausalLM",
    sliding: { layers: "all", named: false, onlyIfUsed: true, usual: 4096 },
    queryKeyNorm: "heads",
    experts: { sizeKey: "moe_intermediate_size", count: 128, normalizedByLlamaCpp: true },
  },
  olmoe: {
    ...plain,
    architecture: "OlmoeForCausalLM",
    queryKeyNorm: "together",
    experts: { sizeKey: "intermediate_size", count: 64, normalizedByLlamaCpp: false },
    epsilon: 1e-5,
  },
  smollm3: {
    ...plain,
    architecture: "SmolLM3ForCausalLM",
    feedForwardBiases: true,
    unrotatedLayers: true,
    sliding: { layers: "unrotated", named: true, onlyIfUsed: true, usual: null },
    tied: true,
    theta: 2_000_000,
  },
  phi3: {
    ...plain,
    architecture: "Phi3ForCausalLM",
    biases: "none",
    fused: true,
    partialRotation: true,
    sliding: { layers: "all", named: false, onlyIfUsed: false, usual: null },
    epsilon: 1e-5,
  },
  gemma: { ...gemma, architecture: "GemmaForCausalLM" },
  gemma2: {
    ...laterGemma,
    architecture: "Gemma2ForCausalLM",
    sliding: { layers: "but-every", interval: 2, named: true, onlyIfUsed: false, usual: 4096 },
    scoreCap: 50,
    logitCap: 30,
  },
  gemma3_text: {
    ...laterGemma,
    architecture: "Gemma3ForCausalLM",
    queryKeyNorm: "heads",
    sliding: { layers: "but-every", interval: 6, named: true, onlyIfUsed: false, usual: 4096 },
    theta: 1_000_000,
    localTheta: 10_000,
    logitCap: null,
  },
};

/** Whether a text names a family. */
export function isFamily(text: unknown): text is Family {
  return typeof text === "string" && Object.hasOwn(families, text);
}
