import { after } from "./after.ts";
import { add, div, exp, log, maximum, mul, negate, sub } from "./elementwise.ts";
import { type FrozenMatrix, frozenFloats, frozenRows, gatherFrozen } from "./frozen-matrix.ts";
import type { GradientRule } from "./gradient-rule.ts";
import type { FloatValue, Graph, IntValue } from "./graph.ts";
import { gather } from "./indexing.ts";
import { gemm } from "./linear-algebra.ts";
import { reduceMax, reduceSum } from "./reductions.ts";
import { concat, reshape, rows } from "./shaping.ts";
import type { TokenDistribution } from "./token-distribution.ts";

/** The number of tokens whose logits are computed together. */
export const partSize = 8192;

/**
 * Returns the distributions of a head [vocabulary, size] and hidden states [rows, size], evaluated at targets [rows],
 * like `tokenDistribution` of their logits, but part by part of the vocabulary. So logits are never whole, forward or
 * backward. Sums are carried from part to part like attention carries them over keys (arXiv 2205.14135), with the
 * head's rows as keys and values. So the gradient of `hidden` needs no logits again. Only that of a trained head does.
 * The token `unwritten` has no probability; no part contains it.
 */
export function vocabularyDistribution(
  hidden: FloatValue,
  head: FloatValue | FrozenMatrix,
  targets: IntValue,
  wants: VocabularyWants,
  unwritten?: number,
): TokenDistribution {
  const { graph } = hidden;
  const parts = partsOf(Number(head.shape[0]), unwritten);
  const isFrozen = !("graph" in head);
  const inputs = isFrozen ? [hidden] : [hidden, head];
  const rowShape = [hidden.shape[0]!];
  let sums: VocabularySums | undefined;
  const logProbabilities = graph.composite("VocabularyLogProbability", [...inputs, targets], () => {
    sums = vocabularySums(hidden, head, wants, parts);
    const own = isFrozen ? gatherFrozen(head, targets) : gather(head, targets);
    const logits = reduceSum(mul(hidden, own), [-1], true);
    const rule: GradientRule = (dy) => [mul(sub(own, mean), reshape(dy, [...rowShape, 1]))];
    const { logSum, head: mean } = sums;
    const output = reshape(sub(logits, logSum), rowShape);
    return { output, saved: [logSum, mean], rule: isFrozen ? rule : logProbabilityRule(parts) };
  });
  const entropies = graph.composite("VocabularyEntropy", inputs, () => {
    const { logSum, logit, covariance } = sums ?? vocabularySums(hidden, head, wants, parts);
    const rule: GradientRule = (dy) => [mul(covariance, negate(reshape(dy, [...rowShape, 1])))];
    const output = reshape(sub(logSum, logit), rowShape);
    return { output, saved: [logSum, logit, covariance], rule: isFrozen ? rule : entropyRule(parts) };
  });
  return { logProbabilities, entropies };
}

/** The used outputs. Others are not carried from part to part, and must not be read. */
export interface VocabularyWants {
  gradients: boolean;
  entropies: boolean;
}

/** For each row, over the whole vocabulary with the row's probabilities. */
interface VocabularySums {
  /** log Σ e^logit, [rows, 1]. */
  logSum: FloatValue;
  /** The mean logit, [rows, 1]. */
  logit: FloatValue;
  /** The mean row of the head, [rows, size]. */
  head: FloatValue;
  /** The covariance of logit and row of the head, [rows, size]. */
  covariance: FloatValue;
}

function vocabularySums(
  hidden: FloatValue,
  head: FloatValue | FrozenMatrix,
  wants: VocabularyWants,
  [first, ...others]: Parts,
): VocabularySums {
  const rowsAfter = (part: Part, carried: readonly FloatValue[]) =>
    "graph" in head
      ? rows(carried.length > 0 ? after(head, ...carried) : head, ...part)
      : frozenFloats(hidden.graph, frozenRows(head, ...part), hidden, ...carried);
  let sums = sumsOfPart(hidden, rowsAfter(first, []));
  for (const part of others) {
    const { weight, shift, head: ofHead, shiftHead } = sums;
    const carried = [
      weight,
      ...(wants.entropies ? [shift] : []),
      ...(wants.gradients ? [ofHead] : []),
      ...(wants.gradients && wants.entropies ? [shiftHead] : []),
    ];
    sums = sumsOfPart(hidden, rowsAfter(part, carried), sums);
  }
  const mean = div(sums.head, sums.weight);
  const shift = div(sums.shift, sums.weight);
  return {
    logSum: add(sums.largest, log(sums.weight)),
    logit: add(sums.largest, shift),
    head: mean,
    covariance: sub(div(sums.shiftHead, sums.weight), mul(shift, mean)),
  };
}

/** For the parts so far, with weights e^shift, where a shift is a logit minus the largest one. */
interface PartSums {
  /** The largest logit, [rows, 1]. */
  largest: FloatValue;
  /** Σ weight, [rows, 1]. */
  weight: FloatValue;
  /** Σ weight · shift, [rows, 1]. */
  shift: FloatValue;
  /** Σ weight · row of the head, [rows, size]. */
  head: FloatValue;
  /** Σ weight · shift · row of the head, [rows, size]. */
  shiftHead: FloatValue;
}

function sumsOfPart(hidden: FloatValue, part: FloatValue, before?: PartSums): PartSums {
  const logits = gemm(hidden, part, { transposeB: true });
  const largest = before ? maximum(before.largest, reduceMax(logits)) : reduceMax(logits);
  const shifts = sub(logits, largest);
  const weights = exp(shifts);
  const weighted = mul(weights, shifts);
  const earlier = before && shifted(before, sub(before.largest, largest));
  const plus = (sum: FloatValue, other: FloatValue | undefined) => (other ? add(other, sum) : sum);
  return {
    largest,
    weight: plus(reduceSum(weights, [-1], true), earlier?.weight),
    shift: plus(reduceSum(weighted, [-1], true), earlier?.shift),
    head: gemm(weights, part, { plus: earlier?.head }),
    shiftHead: gemm(weighted, part, { plus: earlier?.shiftHead }),
  };
}

/** Returns the sums for another largest logit. `by` is the old one minus the new one. */
function shifted({ weight, shift, head, shiftHead }: PartSums, by: FloatValue) {
  const factor = exp(by);
  return {
    weight: mul(weight, factor),
    shift: mul(add(shift, mul(weight, by)), factor),
    head: mul(head, factor),
    shiftHead: mul(add(shiftHead, mul(head, by)), factor),
  };
}

/** Returns the beginnings and ends of a vocabulary's parts, which leave out a token. */
function partsOf(vocabulary: number, unwritten: number | undefined): Parts {
  const starts = Array.from({ length: Math.ceil(vocabulary / partSize) }, (_, index) => index * partSize);
  const whole = starts.map((from): Part => [from, Math.min(from + partSize, vocabulary)]);
  const parts = whole.flatMap(([from, to]): Part[] => {
    if (unwritten === undefined || unwritten < from || unwritten >= to) return [[from, to]];
    const around: Part[] = [
      [from, unwritten],
      [unwritten + 1, to],
    ];
    return around.filter(([start, end]) => start < end);
  });
  const [first, ...others] = parts;
  return [first!, ...others];
}

type Part = [from: number, to: number];

type Parts = [Part, ...Part[]];

/** dlogits = dy · (one-hot(target) − p). */
function logProbabilityRule(parts: Parts): GradientRule {
  return (dy, { floats: [hidden, head], ints: [targets], saved: [logSum, mean] }) => {
    const gradient = reshape(dy, [hidden.shape[0]!, 1]);
    const negative = negate(gradient);
    const later = () =>
      headGradient(hidden, head, parts, (logits) => mul(exp(sub(logits, logSum)), negative));
    const rowUpdates = { numbers: targets, updates: mul(hidden, gradient) };
    return [mul(sub(gather(head, targets), mean), gradient), { later, rows: rowUpdates }];
  };
}

/** dlogits = −dy · p · (log p + H), where log p + H = logit − mean logit. */
function entropyRule(parts: Parts): GradientRule {
  return (dy, { floats: [hidden, head], saved: [logSum, logit, covariance] }) => {
    const negative = negate(reshape(dy, [hidden.shape[0]!, 1]));
    const dLogits = (logits: FloatValue) => mul(mul(exp(sub(logits, logSum)), sub(logits, logit)), negative);
    return [mul(covariance, negative), { later: () => headGradient(hidden, head, parts, dLogits) }];
  };
}

/** Returns the gradient of a head from that of the logits of each of its parts. Rows between parts have none. */
function headGradient(
  hidden: FloatValue,
  head: FloatValue,
  parts: Parts,
  dLogits: (logits: FloatValue) => FloatValue,
): FloatValue {
  const rowsOf = parts.map((part) => rows(head, ...part));
  const ofPart = (part: FloatValue) =>
    gemm(dLogits(gemm(hidden, part, { transposeB: true })), hidden, { transposeA: true });
  const [count, width] = [Number(head.shape[0]), Number(head.shape[1])];
  const pieces = rowsOf.flatMap((part, number) => {
    const between = parts[number]![0] - (parts[number - 1]?.[1] ?? 0);
    return between > 0 ? [zeros(hidden.graph, between, width), ofPart(part)] : [ofPart(part)];
  });
  const behind = count - parts.at(-1)![1];
  const [first, ...others] = behind > 0 ? [...pieces, zeros(hidden.graph, behind, width)] : pieces;
  return concat([first!, ...others], 0);
}

function zeros(graph: Graph, count: number, width: number): FloatValue {
  return graph.floats(new Float32Array(count * width), [count, width]);
}
