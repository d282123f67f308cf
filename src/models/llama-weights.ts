import { createHash } from "node:crypto";
import { EverturnError } from "../errors/everturn-error.ts";
import type { FloatValue, Graph } from "../onnx/graph.ts";
import { philox } from "../random/uniform-stream.ts";
import type { LlamaConfig } from "./llama-config.ts";
import type { Tensor } from "./safetensors.ts";

/** Shapes of all weights by Hugging Face's names; matrices are [out, in]. */
export function llamaWeightShapes(config: LlamaConfig): Map<string, number[]> {
  const { hidden_size: hidden, intermediate_size: inner, vocab_size: vocabulary } = config;
  const queries = config.num_attention_heads * config.head_dim;
  const keys = config.num_key_value_heads * config.head_dim;
  const shapes = new Map<string, number[]>([["model.embed_tokens.weight", [vocabulary, hidden]]]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const add = (name: string, shape: number[]) => shapes.set(`model.layers.${layer}.${name}.weight`, shape);
    add("input_layernorm", [hidden]);
    add("self_attn.q_proj", [queries, hidden]);
    add("self_attn.k_proj", [keys, hidden]);
    add("self_attn.v_proj", [keys, hidden]);
    add("self_attn.o_proj", [hidden, queries]);
    add("post_attention_layernorm", [hidden]);
    add("mlp.gate_proj", [inner, hidden]);
    add("mlp.up_proj", [inner, hidden]);
    add("mlp.down_proj", [hidden, inner]);
  }
  shapes.set("model.norm.weight", [hidden]);
  if (!config.tie_word_embeddings) shapes.set("lm_head.weight", [vocabulary, hidden]);
  return shapes;
}

/**
 * Random weights: normal with the configuration's initializer_range (projections back into the residual stream
 * divided by √(2 · layers), as GPT-2 does), norms 1. A weight depends on seed, name and position alone.
 */
export function randomLlamaWeights(config: LlamaConfig, seed: number): Map<string, Tensor> {
  const residual = config.initializer_range / Math.sqrt(2 * config.num_hidden_layers);
  return new Map(
    [...llamaWeightShapes(config)].map(([name, shape]) => {
      const size = shape.reduce((total, dimension) => total * dimension, 1);
      if (name.endsWith("norm.weight")) return [name, { shape, data: new Float32Array(size).fill(1) }];
      const deviation = /(o_proj|down_proj)\.weight$/.test(name) ? residual : config.initializer_range;
      return [name, { shape, data: normalNumbers(size, deviation, `${seed}/${name}`) }];
    }),
  );
}

/** Throws MODEL_WEIGHTS_MISMATCH unless the weights are those that the configuration asks for. */
export function checkLlamaWeights(config: LlamaConfig, weights: ReadonlyMap<string, Tensor>): void {
  for (const [name, shape] of llamaWeightShapes(config)) {
    const found = weights.get(name)?.shape;
    if (found?.join() === shape.join()) continue;
    const reason = `${name} should be [${shape.join(", ")}], but is ${found ? `[${found.join(", ")}]` : "missing"}`;
    throw new EverturnError("MODEL_WEIGHTS_MISMATCH", { reason });
  }
}

/** Weights by name inside a graph, as inputs of the same names. */
export function weightInputs(
  graph: Graph,
  shapes: ReadonlyMap<string, readonly number[]>,
): Map<string, FloatValue> {
  return new Map([...shapes].map(([name, shape]) => [name, graph.input(name, "float32", shape)]));
}

/** Normal numbers (Box–Muller over Philox) that depend on the key and their position alone. */
function normalNumbers(count: number, deviation: number, key: string): Float32Array {
  const digest = createHash("sha256").update(key).digest();
  const [key0, key1] = [digest.readUInt32LE(0), digest.readUInt32LE(4)];
  const numbers = new Float32Array(count);
  for (let at = 0; at < count; at += 2) {
    const [a, b] = philox([at / 2, 0, 0, 0], key0, key1);
    const radius = deviation * Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32));
    const angle = (2 * Math.PI * b) / 2 ** 32;
    numbers[at] = radius * Math.cos(angle);
    if (at + 1 < count) numbers[at + 1] = radius * Math.sin(angle);
  }
  return numbers;
}
