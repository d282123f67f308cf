import { causalAttentionRule } from "./causal-attention.ts";
import { product } from "./dimensions.ts";
import {
  div,
  exp,
  less,
  lessOrEqual,
  mul,
  negate,
  type Operand,
  sigmoid,
  sub,
  toFloat,
  where,
} from "./elementwise.ts";
import { gatedUnitRules } from "./gated-units.ts";
import {
  floatAttribute,
  type GradientRule,
  integerAttribute,
  integersAttribute,
  unbroadcast,
} from "./gradient-rule.ts";
import { type BoolValue, type FloatValue, graphError, type IntValue, type TapeEntry } from "./graph.ts";
import { scatterAdd } from "./indexing.ts";
import { gemm, matMul, type ProductOptions } from "./linear-algebra.ts";
import { padRowsRule, unpadRowsRule } from "./padding.ts";
import { prefixedAttentionRule } from "./prefixed-attention.ts";
import { reduceSum } from "./reductions.ts";
import { rmsNormRule } from "./rms-norm.ts";
import { rotaryEmbeddingRule } from "./rotary-embedding.ts";
import { addRowsRule, joinRowsRule, takeRowsRule } from "./row-subsets.ts";
import { sequenceAttentionRule } from "./sequence-attention.ts";
import { expand, reshape, transpose, zerosLike } from "./shaping.ts";
import { tiledAttentionRule } from "./tiled-attention.ts";
import { entropyRule, targetLogProbabilityRule } from "./token-distribution.ts";

/** The gradient rule of each operator and composite, by name. */
export const gradientRules: Readonly<Record<string, GradientRule>> = {
  Add: (dy, { floats: [a, b] }) => [unbroadcast(dy, a.shape), unbroadcast(dy, b.shape)],
  Sub: (dy, { floats: [a, b] }) => [unbroadcast(dy, a.shape), unbroadcast(negate(dy), b.shape)],
  Mul: (dy, { floats: [a, b] }) => [unbroadcast(mul(dy, b), a.shape), unbroadcast(mul(dy, a), b.shape)],
  Div: (dy, { floats: [a, b], output }) => [
    unbroadcast(div(dy, b), a.shape),
    unbroadcast(negate(mul(dy, div(output, b))), b.shape),
  ],
  Min: (dy, { floats: [a, b] }) => chosen(dy, a, b, lessOrEqual(a, b)),
  Max: (dy, { floats: [a, b] }) => chosen(dy, a, b, lessOrEqual(b, a)),
  Neg: (dy) => [negate(dy)],
  Exp: (dy, { output }) => [mul(dy, output)],
  Log: (dy, { floats: [a] }) => [div(dy, a)],
  Softplus: (dy, { floats: [a] }) => [mul(dy, sigmoid(a))],
  Sqrt: (dy, { output }) => [div(mul(dy, 0.5), output)],
  Tanh: (dy, { output }) => [mul(dy, sub(1, mul(output, output)))],
  Erf: (dy, { floats: [a] }) => [mul(mul(dy, 2 / Math.sqrt(Math.PI)), exp(negate(mul(a, a))))],
  Sigmoid: (dy, { output }) => [mul(dy, mul(output, sub(1, output)))],
  Softmax: (dy, { output }) => [mul(output, sub(dy, reduceSum(mul(dy, output), [-1], true)))],
  Clip: (dy, { floats: [a, low, high] }) => [where(less(a, low), 0, where(less(high, a), 0, dy))],
  Where: (dy, { floats: [a, b], bools: [condition] }) => chosen(dy, a, b, condition),
  Reshape: (dy, { floats: [a] }) => [reshape(dy, a.shape)],
  Expand: (dy, { floats: [a] }) => [unbroadcast(dy, a.shape)],
  Slice: (dy, step) => [slicePadded(dy, step)],
  Transpose: (dy, step) => {
    const order = integersAttribute(step, "perm");
    return [
      transpose(
        dy,
        order.map((_, axis) => order.indexOf(axis)),
      ),
    ];
  },
  ReduceSum: (dy, step) => [spread(dy, step)],
  ReduceMean: (dy, step) => [div(spread(dy, step), reducedSize(step))],
  Gather: (dy, { floats: [table], ints: [indices] }) => {
    const updates = reshape(dy, [product(indices.shape), ...table.shape.slice(1)]);
    return [{ rows: { numbers: reshape(indices, [product(indices.shape)]), updates } }];
  },
  GatherElements: (dy, { floats: [a], ints: [indices] }) => [scatterAdd(zerosLike(a), indices, dy, -1)],
  Gemm: (dy, step) => {
    const [, , plus] = step.floats;
    return [...productGradients(gemm, dy, step), plus && unbroadcast(dy, plus.shape)];
  },
  FusedMatMul: (dy, step) => {
    const [a, b] = step.floats;
    const [da, db] = productGradients(matMul, dy, step);
    return [unbroadcast(da, a.shape), unbroadcast(db, b.shape)];
  },
  RmsNorm: rmsNormRule,
  RotaryEmbedding: rotaryEmbeddingRule,
  CausalAttention: causalAttentionRule,
  SequenceAttention: sequenceAttentionRule,
  TiledAttention: tiledAttentionRule,
  ...gatedUnitRules,
  PrefixedAttention: prefixedAttentionRule,
  PadRows: padRowsRule,
  UnpadRows: unpadRowsRule,
  TakeRows: takeRowsRule,
  AddRows: addRowsRule,
  JoinRows: joinRowsRule,
  TargetLogProbability: targetLogProbabilityRule,
  Entropy: entropyRule,
};

/** Returns the gradients of an operator that takes `a` where the condition holds, else `b`. */
function chosen(dy: FloatValue, a: FloatValue, b: FloatValue, condition: BoolValue): FloatValue[] {
  return [unbroadcast(where(condition, dy, 0), a.shape), unbroadcast(where(condition, 0, dy), b.shape)];
}

/** Returns the constants given to a step, such as the axes that it reduces. */
function constantInts({ op }: TapeEntry, ints: IntValue): number[] {
  const constant = ints.graph.initializers.find(({ value }) => value === ints);
  if (!constant || "file" in constant.data) throw graphError(`${ints.name} of ${op} is not constant`);
  return Array.from(constant.data, Number);
}

function reducedAxes(step: TapeEntry): number[] {
  return constantInts(step, step.ints[0]);
}

/** Returns the gradient of a slice along one axis, with zeros outside of the slice. */
function slicePadded(dy: FloatValue, step: TapeEntry): FloatValue {
  const [{ shape }] = step.floats;
  const [from, to, cut] = step.ints.map((ints) => constantInts(step, ints)[0]!);
  const before = shape.map((_, axis) => (axis === cut ? from! : 0));
  const after = shape.map((size, axis) => (axis === cut ? Number(size) - to! : 0));
  return dy.graph.emit("Pad", [dy, dy.graph.ints([...before, ...after])], { dtype: "float32", shape });
}

/** Returns the gradient of a reduction, repeated along the reduced axes. */
function spread(dy: FloatValue, step: TapeEntry): FloatValue {
  const [{ shape }] = step.floats;
  const axes = reducedAxes(step);
  const kept = shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  return expand(reshape(dy, kept), shape);
}

function reducedSize(step: TapeEntry): Operand {
  const [a] = step.floats;
  const size = product(reducedAxes(step).map((axis) => a.shape[axis]));
  return typeof size === "number" ? size : reshape(toFloat(a.graph.shapeTensor([size])), []);
}

/** For C = α · op(A) op(B): dA and dB are products of dC with the other factor. */
function productGradients(
  multiply: (a: FloatValue, b: FloatValue, options: ProductOptions) => FloatValue,
  dy: FloatValue,
  step: TapeEntry,
): [FloatValue, FloatValue] {
  const [a, b] = step.floats;
  const transA = integerAttribute(step, "transA") === 1;
  const transB = integerAttribute(step, "transB") === 1;
  const alpha = floatAttribute(step, "alpha");
  return [
    transA
      ? multiply(b, dy, { transposeA: transB, transposeB: true, alpha })
      : multiply(dy, b, { transposeB: !transB, alpha }),
    transB
      ? multiply(dy, a, { transposeA: true, transposeB: transA, alpha })
      : multiply(a, dy, { transposeA: !transA, alpha }),
  ];
}
