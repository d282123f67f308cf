import { EverturnError } from "../../../base/errors/everturn-error.ts";
import { elementCount } from "../../onnx/element-count.ts";
import type { FloatValue, Graph } from "../../onnx/graph.ts";
import { families } from "../config/families.ts";
import { expertsOf, type ModelConfig } from "../config/model-config.ts";

/** Returns the shapes of all weights by Hugging Face's names. Matrices are [out, in]. */
export function modelWeightShapes(config: ModelConfig): Map<string, number[]> {
  const { hidden_size: hidden, intermediate_size: inner, vocab_size: vocabulary, head_dim: size } = config;
  const { biases, queryKeyNorm, normsAfter, fused } = families[config.model_type];
  const queries = outputSize(config, "q_proj");
  const keys = outputSize(config, "k_proj");
  const inputBias = biases === "queries-keys-values" || config.attention_bias;
  const shapes = new Map<string, number[]>([["model.embed_tokens.weight", [vocabulary, hidden]]]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const add = (name: string, shape: number[]) => shapes.set(`model.layers.${layer}.${name}`, shape);
    const addLinear = (name: string, output: number, input: number, bias: boolean) => {
      add(`${name}.weight`, [output, input]);
      if (bias) add(`${name}.bias`, [output]);
    };
    add("input_layernorm.weight", [hidden]);
    if (fused) addLinear("self_attn.qkv_proj", queries + 2 * keys, hidden, false);
    else {
      addLinear("self_attn.q_proj", queries, hidden, inputBias);
      addLinear("self_attn.k_proj", keys, hidden, inputBias);
      addLinear("self_attn.v_proj", keys, hidden, inputBias);
    }
    addLinear("self_attn.o_proj", hidden, queries, config.attention_bias);
    if (queryKeyNorm !== "none") {
      add("self_attn.q_norm.weight", [queryKeyNorm === "heads" ? size : queries]);
      add("self_attn.k_norm.weight", [queryKeyNorm === "heads" ? size : keys]);
    }
    add("post_attention_layernorm.weight", [hidden]);
    if (normsAfter) {
      add("pre_feedforward_layernorm.weight", [hidden]);
      add("post_feedforward_layernorm.weight", [hidden]);
    }
    const experts = expertsOf(config, layer);
    if (experts) {
      addLinear("mlp.gate", experts.num_experts, hidden, false);
      for (let expert = 0; expert < experts.num_experts; expert++) {
        const name = `mlp.experts.${expert}`;
        addLinear(`${name}.gate_proj`, experts.moe_intermediate_size, hidden, false);
        addLinear(`${name}.up_proj`, experts.moe_intermediate_size, hidden, false);
        addLinear(`${name}.down_proj`, hidden, experts.moe_intermediate_size, false);
      }
      continue;
    }
    if (fused) addLinear("mlp.gate_up_proj", 2 * inner, hidden, false);
    else {
      addLinear("mlp.gate_proj", inner, hidden, config.mlp_bias);
      addLinear("mlp.up_proj", inner, hidden, config.mlp_bias);
    }
    addLinear("mlp.down_proj", hidden, inner, config.mlp_bias);
  }
  shapes.set("model.norm.weight", [hidden]);
  if (!config.tie_word_embeddings) shapes.set("lm_head.weight", [vocabulary, hidden]);
  return shapes;
}

/** Returns the bytes of all weights as float32. */
export function modelWeightBytes(config: ModelConfig): number {
  const counts = [...modelWeightShapes(config).values()].map(elementCount);
  return counts.reduce((total, count) => total + count, 0) * Float32Array.BYTES_PER_ELEMENT;
}

/** Returns the module that a family has in place of several, by the name of one of them; undefined if it has each. */
export function fusedModule({ model_type }: ModelConfig, module: string): string | undefined {
  if (!families[model_type].fused) return undefined;
  if (/^[qkv]_proj$/.test(module)) return "qkv_proj";
  return module === "gate_proj" || module === "up_proj" ? "gate_up_proj" : undefined;
}

/** Returns the numbers per row that a projection into heads or gated units outputs. */
export function outputSize(config: ModelConfig, module: string): number {
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  if (module === "q_proj") return heads * size;
  return module === "k_proj" || module === "v_proj" ? groups * size : config.intermediate_size;
}

type Shaped = ReadonlyMap<string, { readonly shape: readonly number[] }>;

/**
 * Throws MODEL_WEIGHTS_MISMATCH unless the weights of the language part, including quantized ones, match the
 * configuration.
 */
export function checkModelWeights(config: ModelConfig, weights: Shaped, quantized?: Shaped): void {
  checkShapes(modelWeightShapes(config), weights, quantized);
}

/** Throws MODEL_WEIGHTS_MISMATCH unless the weights, including quantized ones, have these shapes. */
export function checkShapes(
  shapes: ReadonlyMap<string, readonly number[]>,
  weights: Shaped,
  quantized?: Shaped,
): void {
  for (const [name, shape] of shapes) {
    const found = (weights.get(name) ?? quantized?.get(name))?.shape;
    if (found?.join() === shape.join()) continue;
    const reason = `${name} should be [${shape.join(", ")}], but is ${found ? `[${found.join(", ")}]` : "missing"}`;
    throw new EverturnError("MODEL_WEIGHTS_MISMATCH", { reason });
  }
}

/** Adds weights as inputs of the same names to a graph. */
export function weightInputs(
  graph: Graph,
  shapes: ReadonlyMap<string, readonly number[]>,
): Map<string, FloatValue> {
  return new Map([...shapes].map(([name, shape]) => [name, graph.input(name, "float32", shape)]));
}
