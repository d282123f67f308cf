import { product } from "../onnx/dimensions.ts";
import { add } from "../onnx/elementwise.ts";
import { type FloatValue, type Graph, graphError, type IntValue } from "../onnx/graph.ts";
import { gather } from "../onnx/indexing.ts";
import { linear } from "../onnx/linear-algebra.ts";
import { rmsNorm } from "../onnx/rms-norm.ts";
import { type RotaryTables, rotaryEmbedding } from "../onnx/rotary-embedding.ts";
import { reshape, transpose } from "../onnx/shaping.ts";
import { swiGlu } from "../onnx/swiglu.ts";
import type { LlamaConfig } from "./llama-config.ts";

/** A Llama inside a graph: its weights by Hugging Face's names, and its tables of rotations. */
export interface LlamaModel {
  config: LlamaConfig;
  weights: ReadonlyMap<string, FloatValue>;
  tables: RotaryTables;
}

/**
 * What attention works on, rotated by position. Queries are [batch, kv heads, group · length, head size], the
 * heads of a group one after the other; keys and values [batch, kv heads, length, head size].
 */
export interface AttentionInputs {
  queries: FloatValue;
  keys: FloatValue;
  values: FloatValue;
}

/** A weight by its name without ".weight"; throws ONNX_GRAPH_INVALID if there is none. */
export function weightOf(model: LlamaModel, name: string): FloatValue {
  const weight = model.weights.get(`${name}.weight`);
  if (!weight) throw graphError(`there is no weight ${name}.weight`);
  return weight;
}

/** Cosines and sines of all positions, in float32 at each step, as Hugging Face computes them. */
export function rotaryTables(graph: Graph, config: LlamaConfig): RotaryTables {
  const half = config.head_dim / 2;
  const shape = [config.max_position_embeddings, half];
  const angles = Float64Array.from({ length: config.max_position_embeddings * half }, (_, at) => {
    const frequency = Math.fround(1 / Math.fround(config.rope_theta ** ((at % half) / half)));
    return Math.fround(Math.floor(at / half) * frequency);
  });
  return {
    cosines: graph.floats(Float32Array.from(angles, Math.cos), shape),
    sines: graph.floats(Float32Array.from(angles, Math.sin), shape),
  };
}

/** Embeddings of tokens [batch, length], as rows [batch · length, hidden]. */
export function embedTokens(model: LlamaModel, tokens: IntValue): FloatValue {
  return gather(weightOf(model, "model.embed_tokens"), reshape(tokens, [product(tokens.shape)]));
}

/**
 * One decoder layer on rows [batch · length, hidden]; positions are [batch, length]. `attend` does the attention
 * itself, and returns what has the shape of the queries. With `rows`, only these go on after it.
 */
export function decoderLayer(
  model: LlamaModel,
  layer: number,
  hidden: FloatValue,
  positions: IntValue,
  attend: (inputs: AttentionInputs) => FloatValue,
  rows?: IntValue,
): FloatValue {
  const kept = (x: FloatValue) => (rows ? gather(x, rows) : x);
  const { rms_norm_eps: epsilon } = model.config;
  const weight = (name: string) => weightOf(model, `model.layers.${layer}.${name}`);
  const normed = rmsNorm(hidden, weight("input_layernorm"), epsilon);
  const attended = attend(attentionInputs(model, layer, normed, positions));
  const merged = kept(mergeHeads(model, attended, positions));
  const mixed = add(kept(hidden), linear(merged, weight("self_attn.o_proj")));
  const before = rmsNorm(mixed, weight("post_attention_layernorm"), epsilon);
  const activated = swiGlu(linear(before, weight("mlp.gate_proj")), linear(before, weight("mlp.up_proj")));
  return add(mixed, linear(activated, weight("mlp.down_proj")));
}

function attentionInputs(
  { config, ...model }: LlamaModel,
  layer: number,
  normed: FloatValue,
  positions: IntValue,
): AttentionInputs {
  const [batch, length] = positions.shape;
  const { num_attention_heads: heads, num_key_value_heads: groups, head_dim: size } = config;
  const project = (name: string, count: number) => {
    const weight = weightOf({ config, ...model }, `model.layers.${layer}.self_attn.${name}`);
    return reshape(linear(normed, weight), [batch, length, count * size]);
  };
  const byHead = (x: FloatValue, count: number) =>
    transpose(reshape(x, [batch, length, count, size]), [0, 2, 1, 3]);
  const rotated = (name: string, count: number) =>
    byHead(rotaryEmbedding(project(name, count), positions, model.tables), count);
  return {
    queries: reshape(rotated("q_proj", heads), [batch, groups, product([heads / groups, length]), size]),
    keys: rotated("k_proj", groups),
    values: byHead(project("v_proj", groups), groups),
  };
}

/** From the shape of queries back to rows [batch · length, heads · head size]. */
function mergeHeads({ config }: LlamaModel, attended: FloatValue, positions: IntValue): FloatValue {
  const [batch, length] = positions.shape;
  const { num_attention_heads: heads, head_dim: size } = config;
  const rows = transpose(reshape(attended, [batch, heads, length, size]), [0, 2, 1, 3]);
  return reshape(rows, [product([batch, length]), heads * size]);
}

/** The final norm of rows [rows, hidden]. */
export function finalNorm(model: LlamaModel, hidden: FloatValue): FloatValue {
  return rmsNorm(hidden, weightOf(model, "model.norm"), model.config.rms_norm_eps);
}

/** Logits [rows, vocabulary] of normed rows. */
export function languageModelHead(model: LlamaModel, normed: FloatValue): FloatValue {
  const name = model.config.tie_word_embeddings ? "model.embed_tokens" : "lm_head";
  return linear(normed, weightOf(model, name));
}
