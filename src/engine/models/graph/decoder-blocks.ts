import { type Dimension, product } from "../../onnx/dimensions.ts";
import { add, mul, softCap } from "../../onnx/elementwise.ts";
import { type FrozenMatrix, frozenLinear, gatherFrozen } from "../../onnx/frozen-matrix.ts";
import { type FloatValue, graphError, type IntValue, type Value } from "../../onnx/graph.ts";
import { gather } from "../../onnx/indexing.ts";
import { gemm, linear } from "../../onnx/linear-algebra.ts";
import type { QuantizedMatrix } from "../../onnx/quantized-matrix.ts";
import { type QuantizedProducts, quantizedLinear } from "../../onnx/quantized-product.ts";
import { fusedRmsNorm, rmsNorm } from "../../onnx/rms-norm.ts";
import { rotaryEmbedding } from "../../onnx/rotary-embedding.ts";
import { columns, reshape } from "../../onnx/shaping.ts";
import { families } from "../config/families.ts";
import type { ModelConfig } from "../config/model-config.ts";
import { unwrittenToken } from "../config/vision-config.ts";
import { fusedModule, outputSize } from "../weights/model-weights.ts";
import type { ChooseExperts } from "./expert-choice.ts";
import type { LayerRotations } from "./rotary-tables.ts";

/** A decoder inside a graph: its weights by Hugging Face's names, and its tables of rotations. */
export interface DecoderModel {
  config: ModelConfig;
  weights: ReadonlyMap<string, FloatValue>;
  /** Frozen matrices, quantized or (not for inference) in half precision. They are not among the weights. */
  frozen?: ReadonlyMap<string, FrozenMatrix>;
  /** How quantized matrices are multiplied in inference. Default: "halves". */
  products?: QuantizedProducts;
  /**
   * In inference, whether a quantized matrix is widened for its products, which is fastest for many rows. Default:
   * none.
   */
  widened?: (matrix: QuantizedMatrix) => boolean;
  tables: LayerRotations;
  /** How the routers of a mixture choose experts. Default: the likeliest. */
  choose?: ChooseExperts;
  adapter?: DecoderAdapter;
  /** Uses the runtime's fused operators, which have no gradients. Default: false. */
  inference?: boolean;
  /**
   * Whether a training graph may use operators that the runtime supports correctly only in float32 on the CPU. Default:
   * false.
   */
  onProcessor?: boolean;
}

/** LoRA (arXiv 2106.09685): modules with a pair get scale · (x Aᵀ) Bᵀ added to their output. */
export interface DecoderAdapter {
  /** alpha / rank. */
  scale: number;
  /** By module, such as "model.layers.0.self_attn.q_proj": A is [rank, in], B is [out, rank]. */
  pairs: ReadonlyMap<string, { a: FloatValue; b: FloatValue }>;
}

/**
 * Inputs of attention, rotated by position, one row per token: queries [rows, heads · head size], keys and values
 * [rows, kv heads · head size].
 */
export interface AttentionInputs {
  queries: FloatValue;
  keys: FloatValue;
  values: FloatValue;
}

/** Returns a weight by its whole name. Throws ONNX_GRAPH_INVALID if it does not exist. */
export function weightOf(model: DecoderModel, name: string): FloatValue {
  const weight = model.weights.get(name);
  if (!weight) throw graphError(`there is no weight ${name}`);
  return weight;
}

/** Returns the embeddings [rows, hidden] of tokens [rows]. */
export function embedTokens(model: DecoderModel, tokens: IntValue | Value<"int32">): FloatValue {
  const { model_type, hidden_size } = model.config;
  const name = "model.embed_tokens.weight";
  const frozen = model.frozen?.get(name);
  const embedded = frozen ? gatherFrozen(frozen, tokens) : gather(weightOf(model, name), tokens);
  return families[model_type].gemmaScaling ? mul(embedded, Math.sqrt(hidden_size)) : embedded;
}

/** Returns the inputs of attention from normed rows [rows, hidden] at positions [rows]. */
export function attentionInputs(
  model: DecoderModel,
  layer: number,
  normed: FloatValue,
  positions: IntValue,
): AttentionInputs {
  const parent = `model.layers.${layer}.self_attn`;
  const [q, k, v] = projections(model, normed, parent, attentionModules);
  const rotated = (projected: FloatValue, name: string) =>
    rotate(model, layer, queryKeyNorm(model, projected, `${parent}.${name}`), positions);
  return { queries: rotated(q!, "q_norm"), keys: rotated(k!, "k_norm"), values: v! };
}

/** The linear maps for queries, keys and values. */
export const attentionModules = ["q_proj", "k_proj", "v_proj"] as const;

/** Returns the name of the joined weights (and biases) of linear maps with the same input. */
export function joinedName(modules: readonly string[]): string {
  return modules.join("+");
}

/** Applies linear maps to the same rows, in one product if the model has joined their weights. */
export function projections(
  model: DecoderModel,
  x: FloatValue,
  parent: string,
  modules: readonly string[],
): FloatValue[] {
  const names = modules.map((module) => `${parent}.${module}`);
  const all = joinedProjection(model, x, parent, modules);
  if (!all) return names.map((name) => projection(model, x, name));
  let end = 0;
  return modules.map((module, at) => {
    const start = end;
    end += outputSize(model.config, module);
    return adapted(model, x, names[at]!, columns(all, start, end));
  });
}

/**
 * Returns the joined outputs of linear maps if their weights are joined: by `joinedName` without adapters, or by the
 * family with one. Otherwise undefined.
 */
export function joinedProjection(
  model: DecoderModel,
  x: FloatValue,
  parent: string,
  modules: readonly string[],
): FloatValue | undefined {
  const name = `${parent}.${fusedModule(model.config, modules[0]!) ?? joinedName(modules)}`;
  const isThere = model.weights.has(`${name}.weight`) || model.frozen?.has(`${name}.weight`);
  return isThere ? projection(model, x, name) : undefined;
}

/** Applies a linear map with its bias and its adapter, if any. */
export function projection(model: DecoderModel, x: FloatValue, module: string): FloatValue {
  const bias = model.weights.get(`${module}.bias`);
  return adapted(model, x, module, multiply(model, x, `${module}.weight`, bias));
}

/** Multiplies rows with a weight in the way that its format requires. */
function multiply(model: DecoderModel, x: FloatValue, name: string, bias?: FloatValue): FloatValue {
  const frozen = model.frozen?.get(name);
  if (!frozen) return linear(x, weightOf(model, name), bias);
  if (!model.inference || !("bits" in frozen) || model.widened?.(frozen))
    return frozenLinear(x, frozen, bias);
  return quantizedLinear(x, frozen, model.products ?? "halves", bias);
}

/** Adds an adapter's product to the output of a linear map. */
function adapted(model: DecoderModel, x: FloatValue, module: string, output: FloatValue): FloatValue {
  const pair = model.adapter?.pairs.get(module);
  if (!model.adapter || !pair) return output;
  // Factors other than 1, because with 1 the runtime multiplies a single row by another kernel, with other last bits.
  const first = model.adapter.scale === 2 ? 4 : 2;
  const inner = gemm(x, pair.a, { transposeB: true, alpha: first });
  return gemm(inner, pair.b, { transposeB: true, alpha: model.adapter.scale / first, plus: output });
}

/** Each row is a sequence for the runtime's operator, which requires sequences no longer than its tables. */
function rotate(model: DecoderModel, layer: number, x: FloatValue, positions: IntValue): FloatValue {
  const tables = model.tables(layer);
  if (!tables) return x;
  const [rows, width] = x.shape;
  const apart = reshape(x, [rows!, 1, width!]);
  const places = reshape(positions, [rows!, 1]);
  return reshape(rotaryEmbedding(apart, places, tables, model.config.head_dim), x.shape);
}

/**
 * Applies a family's norm of queries or keys […, heads · head size] before their rotation: each head separately, all
 * together, or none.
 */
export function queryKeyNorm(model: DecoderModel, x: FloatValue, module: string): FloatValue {
  const { model_type, head_dim: size } = model.config;
  const kind = families[model_type].queryKeyNorm;
  if (kind === "none") return x;
  if (kind === "together") return norm(model, x, module);
  const heads: Dimension = product([...x.shape.slice(0, -1), Number(x.shape.at(-1)) / size]);
  return reshape(norm(model, reshape(x, [heads, size]), module), x.shape);
}

/** Applies RMSNorm to the last axis with a module's weight. */
export function norm(model: DecoderModel, x: FloatValue, module: string): FloatValue {
  const { model_type, rms_norm_eps } = model.config;
  const weight = weightOf(model, `${module}.weight`);
  const scale = families[model_type].gemmaScaling ? add(weight, 1) : weight;
  return model.inference
    ? fusedRmsNorm(x, scale, rms_norm_eps)
    : rmsNorm(x, scale, rms_norm_eps, model.onProcessor);
}

/** Applies the final norm to rows [rows, hidden]. */
export function finalNorm(model: DecoderModel, hidden: FloatValue): FloatValue {
  return norm(model, hidden, "model.norm");
}

/** Returns the weight of logits, [vocabulary, hidden]: a separate one, or that of the embeddings. */
export function headWeight(model: DecoderModel): FloatValue | FrozenMatrix {
  const name = headName(model.config);
  return model.frozen?.get(name) ?? weightOf(model, name);
}

function headName({ tie_word_embeddings: isTied }: ModelConfig): string {
  return isTied ? "model.embed_tokens.weight" : "lm_head.weight";
}

/**
 * The logit of a token that is never written, whose probability becomes 0 at all temperatures. Infinity would make the
 * entropy no number.
 */
const unwrittenLogit = -3e4;

/** Returns logits [rows, vocabulary] of normed rows. Those of a token that the model never writes have no probability. */
export function languageModelHead(model: DecoderModel, normed: FloatValue): FloatValue {
  const { final_logit_softcapping: cap, vocab_size: vocabulary } = model.config;
  const uncapped = multiply(model, normed, headName(model.config));
  const logits = cap === null ? uncapped : softCap(uncapped, cap);
  const unwritten = unwrittenToken(model.config);
  if (unwritten === undefined) return logits;
  const added = new Float32Array(vocabulary);
  added[unwritten] = unwrittenLogit;
  return add(logits, logits.graph.floats(added, [vocabulary]));
}
