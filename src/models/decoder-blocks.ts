import { type Dimension, product } from "../onnx/dimensions.ts";
import { add, mul } from "../onnx/elementwise.ts";
import { geGlu, geGluTanh, swiGlu } from "../onnx/gated-units.ts";
import { type FloatValue, graphError, type IntValue, type Value } from "../onnx/graph.ts";
import { gather } from "../onnx/indexing.ts";
import { gemm, linear } from "../onnx/linear-algebra.ts";
import { fusedRmsNorm, rmsNorm } from "../onnx/rms-norm.ts";
import { type RotaryTables, rotaryEmbedding } from "../onnx/rotary-embedding.ts";
import { columns, reshape } from "../onnx/shaping.ts";
import { families } from "./families.ts";
import type { ModelConfig } from "./model-config.ts";
import { modelWeightShapes } from "./model-weights.ts";

/** A decoder inside a graph: its weights by Hugging Face's names, and its tables of rotations. */
export interface DecoderModel {
  config: ModelConfig;
  weights: ReadonlyMap<string, FloatValue>;
  tables: RotaryTables;
  adapter?: DecoderAdapter;
  /** For inference: the runtime's fused operators, which have no gradients. Default false. */
  inference?: boolean;
}

/** LoRA (arXiv 2106.09685): modules with a pair get scale · (x Aᵀ) Bᵀ added to their output. */
export interface DecoderAdapter {
  /** alpha / rank. */
  scale: number;
  /** By module, such as "model.layers.0.self_attn.q_proj": A is [rank, in], B is [out, rank]. */
  pairs: ReadonlyMap<string, { a: FloatValue; b: FloatValue }>;
}

/**
 * What attention works on, rotated by position, token by token: queries [rows, heads · head size], keys and values
 * [rows, kv heads · head size].
 */
export interface AttentionInputs {
  queries: FloatValue;
  keys: FloatValue;
  values: FloatValue;
}

/** A weight by its whole name; throws ONNX_GRAPH_INVALID if there is none. */
export function weightOf(model: DecoderModel, name: string): FloatValue {
  const weight = model.weights.get(name);
  if (!weight) throw graphError(`there is no weight ${name}`);
  return weight;
}

/** Embeddings [rows, hidden] of tokens [rows]. */
export function embedTokens(model: DecoderModel, tokens: IntValue | Value<"int32">): FloatValue {
  const { model_type, hidden_size } = model.config;
  const embedded = gather(weightOf(model, "model.embed_tokens.weight"), tokens);
  return families[model_type].gemmaScaling ? mul(embedded, Math.sqrt(hidden_size)) : embedded;
}

const gatedUnits = { silu: swiGlu, gelu: geGlu, gelu_pytorch_tanh: geGluTanh };

/**
 * One decoder layer on rows [rows, hidden]. `attend` does the attention of normed rows, and returns rows
 * [rows, heads · head size]. With `kept`, only these rows go on after it.
 */
export function decoderLayer(
  model: DecoderModel,
  layer: number,
  hidden: FloatValue,
  attend: (normed: FloatValue) => FloatValue,
  kept?: IntValue,
): FloatValue {
  const select = (x: FloatValue) => (kept ? gather(x, kept) : x);
  const name = (module: string) => `model.layers.${layer}.${module}`;
  const project = (x: FloatValue, module: string) => projection(model, x, name(module));
  const normed = norm(model, hidden, name("input_layernorm"));
  const attended = select(attend(normed));
  const mixed = add(select(hidden), project(attended, "self_attn.o_proj"));
  const before = norm(model, mixed, name("post_attention_layernorm"));
  const gated = gatedUnits[model.config.hidden_act];
  const units = gated(project(before, "mlp.gate_proj"), project(before, "mlp.up_proj"));
  return add(mixed, project(units, "mlp.down_proj"));
}

/** What attention works on, from normed rows [rows, hidden] at positions [rows]. */
export function attentionInputs(
  model: DecoderModel,
  layer: number,
  normed: FloatValue,
  positions: IntValue,
): AttentionInputs {
  const { queryKeyNorm } = families[model.config.model_type];
  const parent = `model.layers.${layer}.self_attn`;
  const [q, k, v] = projections(model, normed, parent, ["q_proj", "k_proj", "v_proj"]);
  const rotated = (projected: FloatValue, name: string) => {
    const ready = queryKeyNorm ? headNorm(model, projected, `${parent}.${name}`) : projected;
    return rotate(model, ready, positions);
  };
  return { queries: rotated(q!, "q_norm"), keys: rotated(k!, "k_norm"), values: v! };
}

/** The name of linear maps of the same input whose weights (and biases) lie one below the other as one. */
export function joinedName(modules: readonly string[]): string {
  return modules.join("+");
}

/** Linear maps of the same rows, with one product where the model has their weights joined. */
export function projections(
  model: DecoderModel,
  x: FloatValue,
  parent: string,
  modules: readonly string[],
): FloatValue[] {
  const names = modules.map((module) => `${parent}.${module}`);
  const all = joinedProjection(model, x, parent, modules);
  if (!all) return names.map((name) => projection(model, x, name));
  const shapes = modelWeightShapes(model.config);
  let end = 0;
  return names.map((name) => {
    const start = end;
    end += shapes.get(`${name}.weight`)![0]!;
    return adapted(model, x, name, columns(all, start, end));
  });
}

/** The outputs of joined linear maps beside each other, without what adapters add; undefined if they aren't joined. */
export function joinedProjection(
  model: DecoderModel,
  x: FloatValue,
  parent: string,
  modules: readonly string[],
): FloatValue | undefined {
  const name = `${parent}.${joinedName(modules)}`;
  const weight = model.weights.get(`${name}.weight`);
  return weight && linear(x, weight, model.weights.get(`${name}.bias`));
}

/** A linear map with its bias and its adapter, if it has them. */
function projection(model: DecoderModel, x: FloatValue, module: string): FloatValue {
  const weight = weightOf(model, `${module}.weight`);
  return adapted(model, x, module, linear(x, weight, model.weights.get(`${module}.bias`)));
}

/** The output of a linear map with what its adapter adds. */
function adapted(model: DecoderModel, x: FloatValue, module: string, output: FloatValue): FloatValue {
  const pair = model.adapter?.pairs.get(module);
  if (!model.adapter || !pair) return output;
  // Factors other than 1: with 1, the runtime multiplies a single row by another kernel, with other last bits.
  const first = model.adapter.scale === 2 ? 4 : 2;
  const inner = gemm(x, pair.a, { transposeB: true, alpha: first });
  return gemm(inner, pair.b, { transposeB: true, alpha: model.adapter.scale / first, plus: output });
}

/** Each row is a sequence of its own to the runtime's operator, which wants sequences no longer than its tables. */
function rotate(model: DecoderModel, x: FloatValue, positions: IntValue): FloatValue {
  const [rows, width] = x.shape;
  const apart = reshape(x, [rows!, 1, width!]);
  return reshape(rotaryEmbedding(apart, reshape(positions, [rows!, 1]), model.tables), x.shape);
}

/** Each head's part of the rows normalized by itself. */
function headNorm(model: DecoderModel, x: FloatValue, module: string): FloatValue {
  const size = model.config.head_dim;
  const [rows, width] = x.shape;
  const heads: Dimension = product([rows!, Number(width) / size]);
  return reshape(norm(model, reshape(x, [heads, size]), module), x.shape);
}

/** RMSNorm of the last axis by a module's weight. */
export function norm(model: DecoderModel, x: FloatValue, module: string): FloatValue {
  const { model_type, rms_norm_eps } = model.config;
  const weight = weightOf(model, `${module}.weight`);
  const normalize = model.inference ? fusedRmsNorm : rmsNorm;
  return normalize(x, families[model_type].gemmaScaling ? add(weight, 1) : weight, rms_norm_eps);
}

/** The final norm of rows [rows, hidden]. */
export function finalNorm(model: DecoderModel, hidden: FloatValue): FloatValue {
  return norm(model, hidden, "model.norm");
}

/** Logits [rows, vocabulary] of normed rows. */
export function languageModelHead(model: DecoderModel, normed: FloatValue): FloatValue {
  const name = model.config.tie_word_embeddings ? "model.embed_tokens.weight" : "lm_head.weight";
  return linear(normed, weightOf(model, name));
}
