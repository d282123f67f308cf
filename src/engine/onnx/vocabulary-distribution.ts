import { defined } from "../../base/records/defined.ts";
import { after } from "./after.ts";
import { add, div, exp, log, maximum, mul, negate, sub } from "./elementwise.ts";
import { type FrozenMatrix, frozenFloats, frozenRows, gatherFrozen } from "./frozen-matrix.ts";
import type { GradientRule } from "./gradient-rule.ts";
import type { FloatValue, IntValue } from "./graph.ts";
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
 */
export function vocabularyDistribution(
  hidden: FloatValue,
  head: FloatValue | FrozenMatrix,
  targets: IntValue,
  wants: VocabularyWants,
): TokenDistribution {
  const { graph } = hidden;
  const isFrozen = !("graph" in head);
  const inputs = isFrozen ? [hidden] : [hidden, head];
  const rowShape = [hidden.shape[0]!];
  let sums: VocabularySums | undefined;
  const logProbabilities = graph.composite("VocabularyLogProbability", [...inputs, targets], () => {
    sums = vocabularySums(hidden, head, wants);
    const own = isFrozen ? gatherFrozen(head, targets) : gather(head, targets);
    const logits = reduceSum(mul(hidden, own), [-1], true);
    const rule: GradientRule = (dy) => [mul(sub(own, mean), reshape(dy, [...rowShape, 1]))];
    const { logSum, head: mean } = sums;
    const output = reshape(sub(logits, logSum), rowShape);
    return defined({ output, saved: [logSum, mean], rule: isFrozen ? rule : undefined });
  });
  const entropies = graph.composite("VocabularyEntropy", inputs, () => {
    const { logSum, logit, covariance } = sums ?? vocabularySums(hidden, head, wants);
    const rule: GradientRule = (dy) => [mul(covariance, negate(reshape(dy, [...rowShape, 1])))];
    const output = reshape(sub(logSum, logit), rowShape);
    return defined({ output, saved: [logSum, logit, covariance], rule: isFrozen ? rule : undefined });
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
): VocabularySums {
  const [first, ...others] = partsOf(Number(head.shape[0]));
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

/** Returns the beginnings and ends of a vocabulary's parts. */
function partsOf(vocabulary: number): [Part, ...Part[]] {
  const part = (from: number): Part => [from, Math.min(from + partSize, vocabulary)];
  const others = Array.from({ length: Math.ceil(vocabulary / partSize) - 1 }, (_, index) =>
    part((index + 1) * partSize),
  );
  return [part(0), ...others];
}

type Part = [from: number, to: number];

/** dlogits = dy · (one-hot(target) − p). */
export const vocabularyLogProbabilityRule: GradientRule = (
  dy,
  { floats: [hidden, head], ints: [targets], saved: [logSum, mean] },
) => {
  const gradient = reshape(dy, [hidden.shape[0]!, 1]);
  const negative = negate(gradient);
  const later = () => headGradient(hidden, head, (logits) => mul(exp(sub(logits, logSum)), negative));
  const rowUpdates = { numbers: targets, updates: mul(hidden, gradient) };
  return [mul(sub(gather(head, targets), mean), gradient), { later, rows: rowUpdates }];
};

/** dlogits = −dy · p · (log p + H), where log p + H = logit − mean logit. */
export const vocabularyEntropyRule: GradientRule = (
  dy,
  { floats: [hidden, head], saved: [logSum, logit, covariance] },
) => {
  const negative = negate(reshape(dy, [hidden.shape[0]!, 1]));
  const later = () =>
    headGradient(hidden, head, (logits) => mul(mul(exp(sub(logits, logSum)), sub(logits, logit)), negative));
  return [mul(covariance, negative), { later }];
};

/** Returns the gradient of a head from that of the logits of each of its parts. */
function headGradient(
  hidden: FloatValue,
  head: FloatValue,
  dLogits: (logits: FloatValue) => FloatValue,
): FloatValue {
  const [first, ...others] = partsOf(Number(head.shape[0])).map((part) => rows(head, ...part));
  const ofPart = (part: FloatValue) =>
    gemm(dLogits(gemm(hidden, part, { transposeB: true })), hidden, { transposeA: true });
  return concat([ofPart(first!), ...others.map(ofPart)], 0);
}
