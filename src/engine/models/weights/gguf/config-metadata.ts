import { EverturnError } from "../../../../base/errors/everturn-error.ts";
import { type ExpertTraits, type Family, families } from "../../config/families.ts";
import { checkCounts, type Experts, type ModelConfig, modelConfig } from "../../config/model-config.ts";
import { parseLayerTypes, parseUnrotatedLayers } from "../../config/parse-layer-types.ts";
import { parseRotaryScaling } from "../../config/parse-rotary-scaling.ts";
import type { RotaryScaling } from "../../config/rotary-scaling.ts";
import { architectures, familyOf, queryScalar } from "./architectures.ts";
import type { GgufValue } from "./value-types.ts";

/** The parts of a GGUF file's header that define its model. */
export interface ModelHeader {
  metadata: ReadonlyMap<string, GgufValue>;
  tensors: ReadonlyMap<string, { readonly shape: readonly number[] }>;
}

/** Returns a number of the metadata, by its name after the architecture's. */
type NumberAt = (name: string, fallback?: number) => number;

/**
 * Returns the configuration of the model in a GGUF file with this header, without RoPE's factors, which are tensors.
 * Throws GGUF_UNSUPPORTED, which names the key.
 */
export function configFromMetadata(path: string, { metadata, tensors }: ModelHeader): ModelConfig {
  const architecture = metadata.get("general.architecture");
  const family = familyOf(architecture);
  if (family === undefined) {
    const known = architectures.join(", ");
    throw unsupportedGguf(
      path,
      `general.architecture is ${JSON.stringify(architecture)}; known are ${known}`,
    );
  }
  const number: NumberAt = (name, fallback) => {
    const value = metadata.get(`${architecture}.${name}`) ?? fallback;
    if (typeof value === "number") return value;
    throw unsupportedGguf(path, `${architecture}.${name} must be a number, but is ${JSON.stringify(value)}`);
  };
  const {
    biases,
    partialRotation,
    experts: mixes,
    queryKeyNorm,
    scoreCap,
    logitCap,
    sliding,
  } = families[family];
  const heads = number("attention.head_count");
  const hidden = number("embedding_length");
  const layers = number("block_count");
  const positions = number("context_length");
  checkCounts({ num_hidden_layers: layers });
  const rotated = number("rope.dimension_count", hidden / heads);
  const size = number("attention.key_length", partialRotation ? hidden / heads : rotated);
  for (const [key, wanted] of [
    ...(partialRotation ? [] : [["rope.dimension_count", size] as const]),
    ["attention.value_length", size] as const,
    ...(mixes ? [] : [["expert_count", 0] as const]),
    ...(queryKeyNorm === "together" ? [["attention.head_count_kv", heads] as const] : []),
  ]) {
    const value = number(key, wanted);
    if (value !== wanted) throw unsupportedGguf(path, `${architecture}.${key} is ${value}, not ${wanted}`);
  }
  const window = slidingWindow(family, number);
  const model_type = family === "llama" && window !== null ? "mistral" : family;
  const pattern = {
    sliding_window_pattern: number("attention.sliding_window_pattern", sliding.interval ?? 1),
  };
  return modelConfig({
    model_type,
    vocab_size: tensors.get("token_embd.weight")?.shape[0] ?? number("vocab_size"),
    hidden_size: hidden,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: number("attention.head_count_kv", heads),
    head_dim: size,
    intermediate_size: number("feed_forward_length"),
    max_position_embeddings: positions,
    rms_norm_eps: decimal(number("attention.layer_norm_rms_epsilon")),
    rope_theta: decimal(number("rope.freq_base", 10_000)),
    rope_scaling: scalingOf(path, metadata, number, positions),
    tie_word_embeddings: !tensors.has("output.weight"),
    attention_bias: biases === "configured" && tensors.has("blk.0.attn_q.bias"),
    mlp_bias: tensors.has("blk.0.ffn_gate.bias"),
    sliding_window: window,
    layer_types: parseLayerTypes(pattern, { family: model_type, layers, window, unrotated: null, path }),
    partial_rotary_factor: partialRotation ? rotated / size : 1,
    no_rope_layers: parseUnrotatedLayers({}, { family, layers, path }),
    query_pre_attn_scalar: queryScalar(family, { hidden, heads, size, layers }),
    attn_logit_softcapping: scoreCap === undefined ? null : number("attn_logit_softcapping", scoreCap),
    final_logit_softcapping: logitCap == null ? null : number("final_logit_softcapping", logitCap),
    experts: mixes ? expertsOf(mixes, number) : null,
  });
}

/** Returns the error GGUF_UNSUPPORTED. */
export function unsupportedGguf(path: string, reason: string): EverturnError {
  return new EverturnError("GGUF_UNSUPPORTED", { path, reason });
}

/** Llama's files may define a window for all layers (Mistral). Files of Phi and later Gemmas have their own. */
function slidingWindow(family: Family, number: NumberAt): number | null {
  const { layers, onlyIfUsed, usual } = families[family].sliding;
  if (onlyIfUsed || (family !== "llama" && layers === "none")) return null;
  return number("attention.sliding_window", layers === "but-every" ? (usual ?? 0) : 0) || null;
}

/**
 * Every layer has experts. llama.cpp determines by family whether the probabilities of the chosen ones are divided by
 * their sum.
 */
function expertsOf({ sizeKey, normalizedByLlamaCpp }: ExpertTraits, number: NumberAt): Experts {
  return {
    num_experts: number("expert_count"),
    num_experts_per_tok: number("expert_used_count"),
    moe_intermediate_size: number(
      sizeKey === "intermediate_size" ? "feed_forward_length" : "expert_feed_forward_length",
    ),
    norm_topk_prob: normalizedByLlamaCpp,
    mlp_only_layers: [],
  };
}

function scalingOf(
  path: string,
  metadata: ModelHeader["metadata"],
  number: NumberAt,
  positions: number,
): RotaryScaling {
  const kind = metadata.get(`${metadata.get("general.architecture")}.rope.scaling.type`) ?? "none";
  if (kind === "none" || kind === "longrope") return { rope_type: "default" };
  const original = number("rope.scaling.original_context_length", positions);
  const factor = decimal(number("rope.scaling.factor"));
  const json = { rope_type: kind, factor, original_max_position_embeddings: original };
  return parseRotaryScaling(json, { context: positions, size: 0, path });
}

/**
 * Returns the shortest decimal number with this value in float32, as a person would write it: 1e-5, not
 * 0.0000099999997.
 */
export function decimal(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return value;
}
