import { modelConfig } from "../../../../src/engine/models/config/model-config.ts";

/** A model whose keys and values stay in place (heads of 16), with room for long prompts. */
export const config = modelConfig({
  vocab_size: 50,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  intermediate_size: 48,
  max_position_embeddings: 1024,
  initializer_range: 0.3,
});
