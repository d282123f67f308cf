import { join } from "node:path";
import onnx from "@everturn/policy-onnx";
import { definePolicy } from "everturn/engine";

const model = {
  tokenizer: join(import.meta.dirname, "..", "..", "pipelines", "calculator", "tokenizer"),
  architecture: {
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    intermediate_size: 32,
    max_position_embeddings: 256,
    initializer_range: 0.1,
  },
};

/** A tiny model that never writes more tokens than its configuration says. */
export default definePolicy({
  config: {
    type: "object",
    additionalProperties: false,
    properties: { tokens: { type: "integer", minimum: 1, default: 6 } },
  },
  capabilities: { files: true },
  initialize: (folder, _, seed) => onnx.initialize(folder, model, seed),
  framing: (_, folder) => onnx.framing?.(model, folder) ?? Promise.resolve(undefined),
  traits: () => ({ pretrained: false, restrictions: [] }),
  async open(folder, { tokens }) {
    const policy = await onnx.open(folder, model);
    return {
      ...policy,
      generate: (request) =>
        policy.generate({ ...request, sampling: { ...request.sampling, maxTokens: Number(tokens) } }),
    };
  },
});
