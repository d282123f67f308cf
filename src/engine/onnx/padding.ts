import { product } from "./dimensions.ts";
import { mul } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import { type FloatValue, graphError, type IntValue } from "./graph.ts";
import { gather } from "./indexing.ts";
import { matMul } from "./linear-algebra.ts";
import { addRows } from "./row-subsets.ts";
import { reshape } from "./shaping.ts";

/** How consecutive rows [rows] fill a padded [batch, length]. A row may have several places. */
export interface PaddedLayout {
  /** [batch, length]: the row at each place; any row for padding. */
  index: IntValue;
  /** [rows]: the first place of each row in [batch · length]. */
  places: IntValue;
  /** [batch, length]: 1 at first places, 0 at others and for padding. */
  present: FloatValue;
  /** [shared]: distinct rows that may have other places. */
  shared: IntValue;
  /** [shared, copies]: those places. Unused entries are arbitrary. */
  copies: IntValue;
  /** [shared, 1, copies]: 1 for used entries, 0 for others. */
  copied: FloatValue;
}

/**
 * Puts rows [rows, width] at their places: [batch, length, width]. Padding contains copies of some row, which must not
 * count. Its gradient is ignored.
 */
export function padRows(x: FloatValue, layout: PaddedLayout): FloatValue {
  if (x.shape.length !== 2) throw graphError("padRows wants rows [rows, width]");
  const { index, places, shared, copies, copied } = layout;
  return x.graph.composite("PadRows", [x, copied, index, places, shared, copies], () => ({
    output: gather(x, index),
    saved: [],
  }));
}

/** Returns the rows [rows, width] at their first places in x [batch · length, width]. It is the inverse of padRows. */
export function unpadRows(x: FloatValue, { index, places, present }: PaddedLayout): FloatValue {
  return x.graph.composite("UnpadRows", [x, present, index, places], () => ({
    output: gather(x, places),
    saved: [],
  }));
}

/** Sums the gradients over a row's places. */
export const padRowsRule: GradientRule = (
  dy,
  { floats: [, copied], ints: [index, places, shared, copies] },
) => {
  const width = dy.shape[2]!;
  const padded = reshape(dy, [product(index.shape), width]);
  const others = reshape(matMul(copied, gather(padded, copies)), [...shared.shape, width]);
  return [addRows(gather(padded, places), shared, others)];
};

/** The gradient at first places, zero elsewhere. */
export const unpadRowsRule: GradientRule = (dy, { floats: [x, present], ints: [index] }) => {
  const padded = mul(gather(dy, index), reshape(present, [...index.shape, 1]));
  return [reshape(padded, x.shape)];
};
