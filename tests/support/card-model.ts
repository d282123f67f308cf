/** The shape of a model whose heads both a card's operator and the processor's take. */
export const cardShape = {
  vocab_size: 128,
  hidden_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 32,
  intermediate_size: 96,
  max_position_embeddings: 512,
  initializer_range: 0.1,
};
