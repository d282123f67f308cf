import { defined } from "../../src/base/records/defined.ts";
import { type ExpertTraits, type Family, families } from "../../src/engine/models/config/families.ts";
import {
  type Experts,
  type LayerType,
  type ModelConfig,
  modelConfig,
} from "../../src/engine/models/config/model-config.ts";
import type { RotaryScaling } from "../../src/engine/models/config/rotary-scaling.ts";
import type { Draw } from "./draw.ts";

const scalings: readonly [RotaryScaling, ...RotaryScaling[]] = [
  { rope_type: "default" },
  { rope_type: "linear", factor: 2 },
  {
    rope_type: "llama3",
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 64,
  },
];

/** A small model of a family, with whatever its config.json may say. */
export function randomConfig(draw: Draw, model_type: Family): ModelConfig {
  const traits = families[model_type];
  const groups = draw.of(1, 2, 3);
  const head_dim = draw.of(8, 12, 16, 32, 48, 64);
  const layers = draw.of(1, 2, 3, 4);
  const inner = draw.of(64, 80, 96, 160);
  const slides = traits.sliding.layers !== "none" && draw.isSo(0.6);
  const layerType = (): LayerType => {
    if (!slides) return "full_attention";
    if (traits.sliding.named) return draw.of("full_attention", "sliding_attention");
    return traits.sliding.layers === "all" ? "sliding_attention" : "full_attention";
  };
  return modelConfig(
    defined({
      model_type,
      vocab_size: draw.of(70, 300, 9000),
      hidden_size: traits.queryKeyNorm === "together" ? draw.of(64, 96) : draw.of(48, 64, 96, 100),
      num_hidden_layers: layers,
      num_attention_heads: groups * draw.of(1, 2, 3, 4),
      num_key_value_heads: groups,
      head_dim,
      intermediate_size: inner,
      max_position_embeddings: 2048,
      initializer_range: 0.2,
      tie_word_embeddings: draw.isSo(0.5),
      attention_bias: traits.biases === "configured" && draw.isSo(0.4),
      mlp_bias: traits.feedForwardBiases && draw.isSo(0.4),
      hidden_act: draw.of("silu", "gelu", "gelu_pytorch_tanh"),
      sliding_window: slides ? draw.of(16, 40, 200, 700) : null,
      layer_types: Array.from({ length: layers }, layerType),
      no_rope_layers: traits.unrotatedLayers ? Array.from({ length: layers }, () => draw.of(0, 1)) : null,
      partial_rotary_factor: traits.partialRotation ? draw.of(0.5, 0.75, 1) : 1,
      rope_scaling: traits.partialRotation ? scalings[0] : draw.of(...scalings),
      query_pre_attn_scalar: traits.queryScalar !== undefined ? draw.of(head_dim, 64) : undefined,
      attn_logit_softcapping: traits.scoreCap !== undefined ? draw.of(null, 5, 50) : undefined,
      final_logit_softcapping: traits.logitCap !== undefined ? draw.of(null, 5, 30) : undefined,
      experts: traits.experts && randomExperts(draw, traits.experts, inner, layers),
    }),
  );
}

function randomExperts(draw: Draw, { sizeKey }: ExpertTraits, inner: number, layers: number): Experts {
  const hasOwnSize = sizeKey === "moe_intermediate_size";
  return {
    num_experts: draw.of(4, 6),
    num_experts_per_tok: draw.of(1, 2, 4),
    moe_intermediate_size: hasOwnSize ? draw.of(32, 48, 64) : inner,
    norm_topk_prob: draw.isSo(0.5),
    mlp_only_layers: hasOwnSize && layers > 1 && draw.isSo(0.4) ? [1] : [],
  };
}
