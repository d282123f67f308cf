/** The model families, by config.json's model_type. */
export type Family = "llama" | "mistral" | "qwen2" | "qwen3" | "gemma";

/** How a family differs from the others. */
export interface FamilyTraits {
  /** The class of `transformers`. */
  architecture: string;
  /** Which projections have biases: always those of queries, keys and values; as config.json says; or none. */
  biases: "queries-keys-values" | "configured" | "none";
  /** RMSNorm of each head's queries and keys, before their rotation. */
  queryKeyNorm: boolean;
  /** Norms multiply by 1 + weight, and embeddings by √hidden_size. */
  gemmaScaling: boolean;
  /** What config.json means where it says nothing. */
  activation: Activation;
  /**
   * Which layers see a sliding window only: none, all of them if config.json gives one, or, if it says use_sliding_window,
   * those that it names.
   */
  sliding: "never" | "always" | "chosen";
  tied: boolean;
  headSize?: number;
  epsilon: number;
  theta: number;
}

/** The gate's activation in the feed-forward block. */
export type Activation = "silu" | "gelu" | "gelu_pytorch_tanh";

const plain: Omit<FamilyTraits, "architecture" | "biases"> = {
  queryKeyNorm: false,
  gemmaScaling: false,
  activation: "silu",
  sliding: "never",
  tied: false,
  epsilon: 1e-6,
  theta: 10_000,
};

/** The traits of each family, as `transformers` defines them. */
export const families: Readonly<Record<Family, FamilyTraits>> = {
  llama: { ...plain, architecture: "LlamaForCausalLM", biases: "configured" },
  mistral: { ...plain, architecture: "MistralForCausalLM", biases: "none", sliding: "always" },
  qwen2: { ...plain, architecture: "Qwen2ForCausalLM", biases: "queries-keys-values", sliding: "chosen" },
  qwen3: {
    ...plain,
    architecture: "Qwen3ForCausalLM",
    biases: "configured",
    sliding: "chosen",
    queryKeyNorm: true,
    headSize: 128,
  },
  gemma: {
    ...plain,
    architecture: "GemmaForCausalLM",
    biases: "configured",
    gemmaScaling: true,
    activation: "gelu_pytorch_tanh",
    tied: true,
    headSize: 256,
  },
};

/** Whether a text names a family. */
export function isFamily(text: unknown): text is Family {
  return typeof text === "string" && Object.hasOwn(families, text);
}
