import { adapterShapes } from "../../src/engine/learning/lora.ts";
import { type ModelConfig, modelConfig } from "../../src/engine/models/config/model-config.ts";
import type { AdapterShape } from "../../src/engine/models/decode/decoding-model.ts";
import type { Tensor } from "../../src/engine/models/weights/safetensors.ts";
import { noise } from "../unit/engine/onnx/finite-differences.ts";

/** The shape of a model whose heads both a card's operator and the processor's take. */
export const cardShape = {
  vocab_size: 128,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  intermediate_size: 96,
  // Less than there is room for, as capacities are multiples of 256.
  max_position_embeddings: 200,
  initializer_range: 0.1,
};

/** Models of that shape, of families whose attention differs. */
export const cardModels: [[name: string, config: ModelConfig], ...[name: string, config: ModelConfig][]] = [
  ["llama", modelConfig(cardShape)],
  ["qwen2", modelConfig({ ...cardShape, model_type: "qwen2" })],
  ["qwen3", modelConfig({ ...cardShape, model_type: "qwen3" })],
  [
    "gemma2",
    modelConfig({
      ...cardShape,
      model_type: "gemma2",
      hidden_act: "gelu_pytorch_tanh",
      attn_logit_softcapping: 50,
      final_logit_softcapping: 30,
      query_pre_attn_scalar: 32,
      sliding_window: 4,
      layer_types: ["sliding_attention", "full_attention"],
    }),
  ],
];

/** An adapter that changes a model's numbers. */
export interface CardAdapter {
  readonly shape: AdapterShape;
  readonly tensors: Map<string, Tensor>;
}

/** An adapter for one of them. */
export function cardAdapter(config: ModelConfig): CardAdapter {
  const shapes = adapterShapes(config, { rank: 4, alpha: 8, targets: ["q_proj", "v_proj", "down_proj"] });
  const tensors = new Map(
    [...shapes].map(([name, shape], at): [string, Tensor] => [
      name,
      {
        shape: [...shape],
        data: Float32Array.from(noise(shape[0]! * shape[1]!, at), (value) => 0.2 * value),
      },
    ]),
  );
  return { shape: { scale: 2, shapes: new Map(shapes) }, tensors };
}
