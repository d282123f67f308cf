import { causalAttention, causalBias } from "../onnx/causal-attention.ts";
import type { FloatValue, IntValue } from "../onnx/graph.ts";
import {
  type AttentionInputs,
  decoderLayer,
  embedTokens,
  finalNorm,
  type LlamaModel,
} from "./llama-blocks.ts";

/** Where a forward pass looks: whole sequences padded on the right, and the rows whose outcome is wanted. */
export interface LlamaInputs {
  /** [batch, length]. */
  tokens: IntValue;
  /** [batch, length]. */
  positions: IntValue;
  /** Numbers of rows in [batch · length] whose next token matters: only they go through the heads. */
  rows: IntValue;
}

/** Final normed hidden states [rows, hidden] of whole sequences, at the wanted rows alone. */
export function llamaForward(model: LlamaModel, { tokens, positions, rows }: LlamaInputs): FloatValue {
  const last = model.config.num_hidden_layers - 1;
  let hidden = embedTokens(model, tokens);
  let bias: FloatValue | undefined;
  const attend = ({ queries, keys, values }: AttentionInputs) => {
    bias ??= causalBias(keys);
    return causalAttention(queries, keys, values, bias);
  };
  for (let layer = 0; layer <= last; layer++) {
    hidden = decoderLayer(model, layer, hidden, positions, attend, layer === last ? rows : undefined);
  }
  return finalNorm(model, hidden);
}
