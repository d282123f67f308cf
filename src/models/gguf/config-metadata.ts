import { EverturnError } from "../../errors/everturn-error.ts";
import type { Family } from "../families.ts";
import { type ModelConfig, modelConfig } from "../model-config.ts";
import { parseRotaryScaling } from "../parse-rotary-scaling.ts";
import type { RotaryScaling } from "../rotary-scaling.ts";
import type { GgufHeader } from "./header.ts";

/** The architectures of GGUF that can be read and written; Mistral's models call themselves llama. */
export const architectures: readonly Family[] = ["llama", "qwen2", "qwen3", "gemma"];

/** The configuration of the model in a GGUF file of this header. Throws GGUF_UNSUPPORTED, naming the key. */
export function configFromMetadata(path: string, { metadata, tensors }: GgufHeader): ModelConfig {
  const architecture = metadata.get("general.architecture");
  const family = architectures.find((known) => known === architecture);
  if (family === undefined) {
    const known = architectures.join(", ");
    throw unsupportedGguf(
      path,
      `general.architecture is ${JSON.stringify(architecture)}; known are ${known}`,
    );
  }
  const number = (name: string, fallback?: number): number => {
    const value = metadata.get(`${family}.${name}`) ?? fallback;
    if (typeof value === "number") return value;
    throw unsupportedGguf(path, `${family}.${name} must be a number, but is ${JSON.stringify(value)}`);
  };
  const heads = number("attention.head_count");
  const hidden = number("embedding_length");
  const layers = number("block_count");
  const positions = number("context_length");
  const window = family === "llama" ? number("attention.sliding_window", 0) : 0;
  const rotated = number("rope.dimension_count", hidden / heads);
  const size = number("attention.key_length", rotated);
  for (const [key, wanted] of [
    ["rope.dimension_count", size],
    ["attention.value_length", size],
    ["expert_count", 0],
  ] as const) {
    const value = number(key, wanted);
    if (value !== wanted) throw unsupportedGguf(path, `${family}.${key} is ${value}, not ${wanted}`);
  }
  return modelConfig({
    model_type: window === 0 ? family : "mistral",
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
    rope_scaling: scalingOf(path, family, number, metadata, positions),
    tie_word_embeddings: !tensors.has("output.weight"),
    attention_bias: family !== "qwen2" && tensors.has("blk.0.attn_q.bias"),
    mlp_bias: tensors.has("blk.0.ffn_gate.bias"),
    sliding_window: window || null,
    layer_types: Array.from({ length: layers }, () => (window ? "sliding_attention" : "full_attention")),
  });
}

/** The error GGUF_UNSUPPORTED. */
export function unsupportedGguf(path: string, reason: string): EverturnError {
  return new EverturnError("GGUF_UNSUPPORTED", { path, reason });
}

function scalingOf(
  path: string,
  family: Family,
  number: (name: string, fallback?: number) => number,
  metadata: GgufHeader["metadata"],
  positions: number,
): RotaryScaling {
  const kind = metadata.get(`${family}.rope.scaling.type`) ?? "none";
  if (kind === "none") return { rope_type: "default" };
  if (kind === "longrope") {
    throw unsupportedGguf(path, `${family}.rope.scaling.type: rope_type "longrope" is not supported`);
  }
  const original = number("rope.scaling.original_context_length", positions);
  const factor = decimal(number("rope.scaling.factor"));
  const json = { rope_type: kind, factor, original_max_position_embeddings: original };
  return parseRotaryScaling(json, { context: positions, size: 0, path });
}

/** The shortest decimal number with this value in float32, as a person wrote it: 1e-5, not 0.0000099999997. */
function decimal(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return value;
}
