import { product } from "./dimensions.ts";
import { mul } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import { type FloatValue, graphError, type IntValue } from "./graph.ts";
import { gather } from "./indexing.ts";
import { matMul } from "./linear-algebra.ts";
import { addRows } from "./row-subsets.ts";
import { reshape } from "./shaping.ts";

/** How rows [rows] that lie one after the other fill a padded [batch, length]. A row may be at several places. */
export interface PaddedLayout {
  /** [batch, length]: the row at each place; any row where there is padding. */
  index: IntValue;
  /** [rows]: the first place of each row in [batch · length]. */
  places: IntValue;
  /** [batch, length]: 1 at first places, 0 at others and where there is padding. */
  present: FloatValue;
  /** [shared]: rows that may have other places, none of which comes twice. */
  shared: IntValue;
  /** [shared, copies]: those places, or any. */
  copies: IntValue;
  /** [shared, 1, copies]: 1 where it is one, 0 elsewhere. */
  copied: FloatValue;
}

/**
 * Rows [rows, width] at their places: [batch, length, width]. Padding holds copies of some row, which must not
 * count: the gradient that comes back there is left out.
 */
export function padRows(x: FloatValue, layout: PaddedLayout): FloatValue {
  if (x.shape.length !== 2) throw graphError("padRows wants rows [rows, width]");
  const { index, places, shared, copies, copied } = layout;
  return x.graph.composite("PadRows", [x, copied, index, places, shared, copies], () => ({
    output: gather(x, index),
    saved: [],
  }));
}

/** The rows [rows, width] at their first places in x [batch · length, width]: undoes padRows. */
export function unpadRows(x: FloatValue, { index, places, present }: PaddedLayout): FloatValue {
  return x.graph.composite("UnpadRows", [x, present, index, places], () => ({
    output: gather(x, places),
    saved: [],
  }));
}

/** The gradients of a row's places, added up. */
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
