import { after } from "./after.ts";
import { type Dimension, product } from "./dimensions.ts";
import { elementTypes } from "./element-types.ts";
import { mul, negate } from "./elementwise.ts";
import { floatAttribute, type GradientRule } from "./gradient-rule.ts";
import type { FloatValue, Graph, IntValue, Value } from "./graph.ts";
import { type HeadOptions, headAttributes } from "./group-query-attention.ts";
import { matMul } from "./linear-algebra.ts";
import { reduceSum } from "./reductions.ts";
import { runtimeDomain } from "./runtime-domain.ts";
import { concat, expand, reshape, transpose } from "./shaping.ts";

/** Head sizes in `sequenceAttention` must be multiples of this. */
export const headSizeStep = 8;

/** The lengths of sequences for the runtime's operator. */
export interface SequenceLengths {
  /** The number of the last position of each sequence [batch]. */
  lastPositions: Value<"int32">;
  /** [1]. */
  total: Value<"int32">;
}

/** Returns the lengths of sequences that are padded on the right to the same length. */
export function sequenceLengths(graph: Graph, batch: Dimension, length: Dimension): SequenceLengths {
  const lengths = graph.shapeTensor([length]);
  const last = graph.emit("Sub", [lengths, graph.ints([1])], { dtype: "int64", shape: [1] });
  return { lastPositions: expand(toInt32(last), [batch]), total: toInt32(lengths) };
}

function toInt32(a: IntValue): Value<"int32"> {
  return a.graph.emit("Cast", [a], { dtype: "int32", shape: a.shape }, { to: elementTypes.int32 });
}

/**
 * Computes the result of `causalAttention` for queries [batch, length, heads · head size] and keys and values [batch,
 * length, groups · head size] with the runtime's own CPU operator. It computes no scores of later tokens. Their
 * exponentials would be so small that the CPU takes many times as long for them. It does not move heads either.
 */
export function sequenceAttention(
  [queries, keys, values]: readonly [FloatValue, FloatValue, FloatValue],
  { lastPositions, total }: SequenceLengths,
  options: HeadOptions,
): FloatValue {
  const { heads, groups, scale } = options;
  const { graph, shape } = queries;
  const [batch, length, width] = shape;
  const size = Number(width) / heads;
  const build = () => {
    const none = graph.absent;
    // qk_output 2: the weights, which the backward pass needs.
    const attributes = { ...headAttributes(options), qk_output: 2 };
    const inputs = [queries, keys, values, none, none, lastPositions, total];
    const byHead = [batch!, groups, length!, size];
    const outputs = [shape, byHead, byHead, [batch!, heads, length!, length!]];
    const [output, ...saved] = graph.emitSeveral(
      "GroupQueryAttention",
      inputs,
      outputs,
      attributes,
      runtimeDomain,
    );
    // The runtime frees only values that something depends on, so the output waits for the saved ones, which the
    // backward pass may not use.
    return { output: typeof batch === "string" ? after(output!, ...saved) : output!, saved };
  };
  return graph.composite("SequenceAttention", [queries, keys, values], build, { scale: { float: scale } });
}

/**
 * Like `causalAttentionRule`. The product itself subtracts rowsum(dO ∘ O), through an additional column of both
 * factors.
 */
export const sequenceAttentionRule: GradientRule = (dOutput, step) => {
  const {
    floats: [queries],
    output,
    saved: [keys, values, weights],
  } = step;
  const alpha = floatAttribute(step, "scale");
  const heads = Number(weights.shape[1]);
  const [batch, groups, length, size] = keys.shape;
  const rows = product([heads / Number(groups), length!]);
  /** Converts [batch, length, heads · columns] to [batch, groups, heads of a group · length, columns]. */
  const byHead = (x: FloatValue, columns: number) => {
    const moved = transpose(reshape(x, [batch!, length!, heads, columns]), [0, 2, 1, 3]);
    return reshape(moved, [batch!, groups!, rows, columns]);
  };
  /** Converts back, for this number of heads. */
  const byToken = (x: FloatValue, count: number) => {
    const moved = transpose(reshape(x, [batch!, count, length!, size!]), [0, 2, 1, 3]);
    return reshape(moved, [batch!, length!, product([count, size!])]);
  };
  const grouped = reshape(weights, [batch!, groups!, rows, length!]);
  const dRows = byHead(dOutput, Number(size));
  const sums = reduceSum(reshape(mul(dOutput, output), [batch!, length!, heads, size!]), [-1], true);
  const dScores = mul(grouped, productLessSums(dRows, byHead(negate(sums), 1), values!));
  return [
    byToken(matMul(dScores, keys, { alpha }), heads),
    byToken(matMul(dScores, byHead(queries, Number(size)), { transposeA: true, alpha }), Number(groups)),
    byToken(matMul(grouped, dRows, { transposeA: true }), Number(groups)),
  ];
};

/**
 * Returns dO Vᵀ plus a negative sum per row, through an additional column of both factors. Another pass over the
 * largest tensor of a layer would cost more.
 */
export function productLessSums(dRows: FloatValue, negativeSums: FloatValue, values: FloatValue): FloatValue {
  const ones = expand(values.graph.floats([1], [1, 1, 1, 1]), [...values.shape.slice(0, -1), 1]);
  return matMul(concat([dRows, negativeSums], -1), concat([values, ones], -1), { transposeB: true });
}
