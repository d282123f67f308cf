import { type Dimension, factorsOf, product } from "./dimensions.ts";
import { add, mul, sub, tanh } from "./elementwise.ts";
import { floatAttribute, type GradientRule } from "./gradient-rule.ts";
import { type FloatValue, type Graph, graphError } from "./graph.ts";
import { matMul } from "./linear-algebra.ts";
import { reduceSum, softmax } from "./reductions.ts";
import { expand, lowerTriangle, reshape, upperTriangle } from "./shaping.ts";

/**
 * Returns the mask that hides later tokens, and those `window` or more before a token: [length, length], zero for
 * visible tokens, −1e9 elsewhere. With padding on the right no other mask is needed.
 */
export function causalBias(graph: Graph, length: Dimension, window?: number): FloatValue {
  const blocked = expand(graph.floats([-1e9], [1, 1]), [length, length]);
  const later = upperTriangle(blocked, 1);
  return window === undefined ? later : add(later, lowerTriangle(blocked, -window));
}

/** How products of queries and keys become scores. */
export interface ScoreOptions {
  /** Default: 1 / √(head size). */
  scale?: number;
  /** Scores s become cap · tanh(s / cap). Default: no cap. */
  cap?: number | null;
}

/**
 * Computes attention of queries [batch, kv heads, group · length, head size] to keys and values [batch, kv heads,
 * length, head size]. The query heads of a group follow each other, so keys and values are never repeated.
 */
export function causalAttention(
  queries: FloatValue,
  keys: FloatValue,
  values: FloatValue,
  bias: FloatValue,
  { scale = Number(keys.shape.at(-1)) ** -0.5, cap = null }: ScoreOptions = {},
): FloatValue {
  const build = () => {
    const alpha = cap === null ? scale : scale / cap;
    const products = matMul(queries, keys, { transposeB: true, alpha });
    const turned = cap === null ? undefined : tanh(products);
    const scores = turned && cap !== null ? mul(turned, cap) : products;
    const [batch, heads, rows, length] = scores.shape;
    const group = groupOf(rows!, length!);
    const grouped = add(reshape(scores, [batch!, heads!, group, length!, length!]), bias);
    const weights = reshape(softmax(grouped), [batch!, heads!, rows!, length!]);
    return { output: matMul(weights, values), saved: turned ? [weights, turned] : [weights] };
  };
  const attributes = { scale: { float: scale } };
  return queries.graph.composite("CausalAttention", [queries, keys, values, bias], build, attributes);
}

/**
 * dS = P ∘ (dP − rowsum(dO ∘ O)), with a cap times 1 − tanh². The gradients of keys and values sum over their group
 * automatically.
 */
export const causalAttentionRule: GradientRule = (dOutput, step) => {
  const {
    floats: [queries, keys, values],
    output,
    saved: [weights, turned],
  } = step;
  const alpha = floatAttribute(step, "scale");
  const dWeights = matMul(dOutput, values, { transposeB: true });
  const dCapped = mul(weights, sub(dWeights, reduceSum(mul(dOutput, output), [-1], true)));
  const dScores = turned ? mul(dCapped, sub(1, mul(turned, turned))) : dCapped;
  return [
    matMul(dScores, keys, { alpha }),
    matMul(dScores, queries, { transposeA: true, alpha }),
    matMul(weights, dOutput, { transposeA: true }),
  ];
};

/** Returns how many query heads share a key head, if their rows follow each other with `length` tokens each. */
export function groupOf(rows: Dimension, length: Dimension): number {
  const group = factorsOf([rows]).coefficient / factorsOf([length]).coefficient;
  if (Number.isInteger(group) && product([group, length]) === rows) return group;
  throw graphError(`queries of ${rows} rows don't group over keys of ${length}`);
}
