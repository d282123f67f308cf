import { groupOf, type ScoreOptions } from "./causal-attention.ts";
import type { Dimension } from "./dimensions.ts";
import { add, mul, negate } from "./elementwise.ts";
import { floatAttribute, type GradientRule } from "./gradient-rule.ts";
import type { FloatValue, Graph, IntValue } from "./graph.ts";
import { matMul } from "./linear-algebra.ts";
import { reduceSum, softmax } from "./reductions.ts";
import { productLessSums } from "./sequence-attention.ts";
import { concat, expand, lowerTriangle, reshape, upperTriangle } from "./shaping.ts";

/** The dimension of keys that a sequence after a prefix may see: those of the prefix, and its own. */
const seen = "seen";

/**
 * Returns the mask that hides later tokens from tokens of a sequence [length] after a prefix [prefix], and those
 * `window` or more before them: [length, seen], zero for visible tokens, −1e9 elsewhere.
 */
export function prefixedBias(
  graph: Graph,
  length: Dimension,
  prefix: Dimension,
  window?: number,
): FloatValue {
  const blockedAt = (width: Dimension) => expand(graph.floats([-1e9], [1, 1]), [length, width]);
  const blocked = concat([blockedAt(prefix), blockedAt(length)], 1, seen);
  const after = (more: number): IntValue =>
    graph.emit("Add", [graph.shapeTensor([prefix]), graph.ints([more])], { dtype: "int64", shape: [1] });
  const later = upperTriangle(blocked, after(1));
  return window === undefined ? later : add(later, lowerTriangle(blocked, after(-window)));
}

/** Keys and values by head, [batch, kv heads, length, head size]. A prefix has batch 1. */
export interface KeysAndValues {
  readonly keys: FloatValue;
  readonly values: FloatValue;
}

/**
 * Computes attention of queries [batch, kv heads, group · length, head size], laid out like those of `causalAttention`,
 * to the common prefix of all sequences and to their own keys and values. Scores within the prefix are not computed
 * again for each sequence.
 */
export function prefixedAttention(
  queries: FloatValue,
  prefix: KeysAndValues,
  own: KeysAndValues,
  bias: FloatValue,
  { scale = Number(queries.shape.at(-1)) ** -0.5 }: Pick<ScoreOptions, "scale"> = {},
): FloatValue {
  const build = () => {
    const scores = matMul(queries, joined(prefix.keys, own.keys), { transposeB: true, alpha: scale });
    const [batch, heads, rows, all] = scores.shape;
    const length = bias.shape[0]!;
    const group = groupOf(rows!, length);
    const grouped = add(reshape(scores, [batch!, heads!, group, length, all!]), bias);
    const weights = reshape(softmax(grouped), [batch!, heads!, rows!, all!]);
    return { output: matMul(weights, joined(prefix.values, own.values)), saved: [weights] };
  };
  const inputs = [queries, prefix.keys, prefix.values, own.keys, own.values, bias];
  return queries.graph.composite("PrefixedAttention", inputs, build, { scale: { float: scale } });
}

/** Like `sequenceAttentionRule`. The gradients of a prefix add up over the sequences. */
export const prefixedAttentionRule: GradientRule = (dOutput, step) => {
  const {
    floats: [queries, prefixKeys, prefixValues, keys, values],
    output,
    saved: [weights],
  } = step;
  const { graph } = dOutput;
  const alpha = floatAttribute(step, "scale");
  const allValues = joined(prefixValues!, values!);
  const sums = reduceSum(mul(dOutput, output), [-1], true);
  const dScores = mul(weights!, productLessSums(dOutput, negate(sums), allValues));
  const parts = (all: FloatValue, of: FloatValue, after: FloatValue) => {
    const length = graph.shapeTensor([of.shape[2]!]);
    const between = (from: IntValue, to: IntValue, shape: FloatValue["shape"]) =>
      graph.emit("Slice", [all, from, to, graph.ints([2])], { dtype: "float32", shape });
    const first = between(graph.ints([0]), length, [all.shape[0]!, ...of.shape.slice(1)]);
    const end = graph.ints([Number.MAX_SAFE_INTEGER]);
    return [reduceSum(first, [0], true), between(length, end, after.shape)] as const;
  };
  const dAllKeys = matMul(dScores, queries!, { transposeA: true, alpha });
  const dAllValues = matMul(weights!, dOutput, { transposeA: true });
  const [dPrefixKeys, dKeys] = parts(dAllKeys, prefixKeys!, keys!);
  const [dPrefixValues, dValues] = parts(dAllValues, prefixValues!, values!);
  const dQueries = matMul(dScores, joined(prefixKeys!, keys!), { alpha });
  return [dQueries, dPrefixKeys, dPrefixValues, dKeys, dValues];
};

/** Joins those of a prefix and of each sequence: [batch, kv heads, seen, head size]. */
function joined(prefix: FloatValue, own: FloatValue): FloatValue {
  return concat([expand(prefix, [own.shape[0]!, ...prefix.shape.slice(1)]), own], 2, seen);
}
