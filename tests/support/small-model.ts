import { type ModelConfig, modelConfig } from "../../src/engine/models/config/model-config.ts";

/** A Llama of two layers that tests run; `maxPositions` is its longest sequence. */
export function smallModel(maxPositions: number): ModelConfig {
  return modelConfig({
    vocab_size: 50,
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 48,
    max_position_embeddings: maxPositions,
    initializer_range: 0.3,
  });
}
