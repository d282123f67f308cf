import { type ModelConfig, rotatedSize } from "../../config/model-config.ts";
import { architectureOf } from "./architectures.ts";
import type { TypedValue } from "./writer.ts";

/** Returns the metadata of a GGUF file for a model's configuration. */
export function modelMetadata(config: ModelConfig): Map<string, TypedValue> {
  const architecture = architectureOf(config.model_type);
  const count = (value: number): TypedValue => ({ type: "uint32", value });
  const real = (value: number): TypedValue => ({ type: "float32", value });
  const entries: [string, TypedValue][] = [
    ["block_count", count(config.num_hidden_layers)],
    ["context_length", count(config.max_position_embeddings)],
    ["embedding_length", count(config.hidden_size)],
    ["feed_forward_length", count(config.intermediate_size)],
    ["attention.head_count", count(config.num_attention_heads)],
    ["attention.head_count_kv", count(config.num_key_value_heads)],
    ["attention.key_length", count(config.head_dim)],
    ["attention.value_length", count(config.head_dim)],
    ["attention.layer_norm_rms_epsilon", real(config.rms_norm_eps)],
    ["rope.dimension_count", count(rotatedSize(config))],
    ["rope.freq_base", real(config.rope_theta)],
    ["vocab_size", count(config.vocab_size)],
    ...scalingEntries(config),
  ];
  const { sliding_window: window, experts } = config;
  if (window !== null) entries.push(["attention.sliding_window", count(window)]);
  const { attn_logit_softcapping: scores, final_logit_softcapping: logits } = config;
  if (scores !== null) entries.push(["attn_logit_softcapping", real(scores)]);
  if (logits !== null) entries.push(["final_logit_softcapping", real(logits)]);
  if (experts !== null) {
    entries.push(
      ["expert_count", count(experts.num_experts)],
      ["expert_used_count", count(experts.num_experts_per_tok)],
      ["expert_feed_forward_length", count(experts.moe_intermediate_size)],
    );
  }
  return new Map<string, TypedValue>([
    ["general.architecture", { type: "string", value: architecture }],
    ...entries.map(([key, value]): [string, TypedValue] => [`${architecture}.${key}`, value]),
  ]);
}

/** Returns scalings by a factor. The factors of Llama 3 and LongRoPE are tensors. */
function scalingEntries({ rope_scaling: scaling }: ModelConfig): [string, TypedValue][] {
  const { rope_type: type } = scaling;
  if (type === "default" || type === "llama3") return [];
  const original: [string, TypedValue][] =
    type === "linear"
      ? []
      : [
          [
            "rope.scaling.original_context_length",
            { type: "uint32", value: scaling.original_max_position_embeddings },
          ],
        ];
  if (type === "longrope") {
    return [...original, ["rope.scaling.attn_factor", { type: "float32", value: scaling.attention_factor }]];
  }
  return [
    ["rope.scaling.type", { type: "string", value: type }],
    ["rope.scaling.factor", { type: "float32", value: scaling.factor }],
    ...original,
  ];
}
