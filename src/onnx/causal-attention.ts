import { type Dimension, factorsOf, product } from "./dimensions.ts";
import { add, mul, sub } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import { type FloatValue, type Graph, graphError } from "./graph.ts";
import { matMul } from "./linear-algebra.ts";
import { reduceSum, softmax } from "./reductions.ts";
import { expand, lowerTriangle, reshape, upperTriangle } from "./shaping.ts";

/**
 * What keeps a token from seeing later ones, and those `window` or more before it: [length, length], zero where it
 * may look, −1e9 elsewhere. With padding on the right no other mask is needed.
 */
export function causalBias(graph: Graph, length: Dimension, window?: number): FloatValue {
  const blocked = expand(graph.floats([-1e9], [1, 1]), [length, length]);
  const later = upperTriangle(blocked, 1);
  return window === undefined ? later : add(later, lowerTriangle(blocked, -window));
}

/**
 * Attention of queries [batch, kv heads, group · length, head size] to keys and values
 * [batch, kv heads, length, head size]: the query heads of a group lie one after the other, so keys and values
 * are never repeated. Scores are divided by √(head size).
 */
export function causalAttention(
  queries: FloatValue,
  keys: FloatValue,
  values: FloatValue,
  bias: FloatValue,
): FloatValue {
  return queries.graph.composite("CausalAttention", [queries, keys, values, bias], () => {
    const scores = matMul(queries, keys, { transposeB: true, alpha: scaleOf(keys) });
    const [batch, heads, rows, length] = scores.shape;
    const group = groupOf(queries, keys);
    const grouped = add(reshape(scores, [batch, heads, group, length, length]), bias);
    const weights = reshape(softmax(grouped), [batch, heads, rows, length]);
    return { output: matMul(weights, values), saved: [weights] };
  });
}

/** dS = P ∘ (dP − rowsum(dO ∘ O)); the gradients of keys and values sum over their group by themselves. */
export const causalAttentionRule: GradientRule = (
  dOutput,
  { floats: [queries, keys, values], output, saved: [weights] },
) => {
  const alpha = scaleOf(keys);
  const dWeights = matMul(dOutput, values, { transposeB: true });
  const dScores = mul(weights, sub(dWeights, reduceSum(mul(dOutput, output), [-1], true)));
  return [
    matMul(dScores, keys, { alpha }),
    matMul(dScores, queries, { transposeA: true, alpha }),
    matMul(weights, dOutput, { transposeA: true }),
  ];
};

function scaleOf(keys: FloatValue): number {
  return 1 / Math.sqrt(Number(keys.shape.at(-1)));
}

function groupOf(queries: FloatValue, keys: FloatValue): number {
  const [rows, length] = [queries.shape[2], keys.shape[2]];
  const group = factorsOf([rows]).coefficient / factorsOf([length]).coefficient;
  if (Number.isInteger(group) && product([group, length]) === rows) return group;
  throw graphError(`queries of ${rows} rows don't group over keys of ${length}`);
}
