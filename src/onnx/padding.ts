import { product } from "./dimensions.ts";
import { mul } from "./elementwise.ts";
import type { GradientRule } from "./gradient-rule.ts";
import { type FloatValue, graphError, type IntValue } from "./graph.ts";
import { gather } from "./indexing.ts";
import { reshape } from "./shaping.ts";

/** How rows [rows] that lie one after the other fill a padded [batch, length]. */
export interface PaddedLayout {
  /** [batch, length]: the row at each place; any row where there is padding. */
  index: IntValue;
  /** [rows]: the place of each row in [batch · length]. */
  places: IntValue;
  /** [batch, length]: 1 where there is a row, 0 where there is padding. */
  present: FloatValue;
}

/**
 * Rows [rows, width] at their places: [batch, length, width]. Padding holds copies of some row, which must not
 * count: the gradient that comes back there is left out.
 */
export function padRows(x: FloatValue, layout: PaddedLayout): FloatValue {
  if (x.shape.length !== 2) throw graphError("padRows wants rows [rows, width]");
  const { index, places, present } = layout;
  return x.graph.composite("PadRows", [x, present, index, places], () => ({
    output: gather(x, index),
    saved: [],
  }));
}

/** The rows [rows, width] at their places in x [batch · length, width]: undoes padRows. */
export function unpadRows(x: FloatValue, { index, places, present }: PaddedLayout): FloatValue {
  return x.graph.composite("UnpadRows", [x, present, index, places], () => ({
    output: gather(x, places),
    saved: [],
  }));
}

/** Each row is taken once (but for padding): the gradient goes back to its place. */
export const padRowsRule: GradientRule = (dy, { ints: [index, places] }) => [
  gather(reshape(dy, [product(index.shape), dy.shape[2]!]), places),
];

/** The gradient at its places, zero in the padding. */
export const unpadRowsRule: GradientRule = (dy, { floats: [x, present], ints: [index] }) => {
  const padded = mul(gather(dy, index), reshape(present, [...index.shape, 1]));
  return [reshape(padded, x.shape)];
};
