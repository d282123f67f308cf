import type { GradientRule } from "./gradient-rule.ts";
import { type BoolValue, type FloatValue, graphError, type IntValue } from "./graph.ts";
import { gather } from "./indexing.ts";
import { concat, reshape, zerosLike } from "./shaping.ts";

/** Returns the numbers of the rows for which `chosen` [rows] holds, in order: [count], a dimension with this name. */
export function rowsWhere(chosen: BoolValue, count: string): IntValue {
  if (chosen.shape.length !== 1) throw graphError("rowsWhere wants one boolean a row");
  return reshape(chosen.graph.emit("NonZero", [chosen], { dtype: "int64", shape: [1, count] }), [count]);
}

/** Returns the rows of x [rows, width] with these distinct numbers [count]. */
export function takeRows(x: FloatValue, numbers: IntValue): FloatValue {
  const taken = (of: FloatValue) => ({ output: gather(of, numbers), saved: [] });
  return x.graph.composite("TakeRows", [x, numbers], () => ({
    ...taken(x),
    remake: ([input]) => taken(input!),
  }));
}

/** Returns `x` [rows, width] with updates [count, width] added to the rows with these distinct numbers. */
export function addRows(x: FloatValue, numbers: IntValue, updates: FloatValue): FloatValue {
  const output = { dtype: "float32", shape: x.shape } as const;
  const places = reshape(numbers, [numbers.shape[0]!, 1]);
  return x.graph.composite("AddRows", [x, updates, numbers], () => ({
    output: x.graph.emit("ScatterND", [x, places, updates], output, { reduction: "add" }),
    saved: [],
  }));
}

/**
 * Joins rows of two kinds into [all], a dimension with this name. `first` and `second` are the numbers of each kind's
 * rows in the result, beginning with `first`.
 */
export function joinRows(
  parts: readonly [FloatValue, FloatValue],
  [first, second]: readonly [IntValue, IntValue],
  all: string,
): FloatValue {
  const [graph] = parts.map((part) => part.graph);
  return graph!.composite("JoinRows", [...parts, first, second], () => ({
    output: concat(parts, 0, all),
    saved: [],
  }));
}

export const joinRowsRule: GradientRule = (dy, { ints: [first, second] }) => [
  takeRows(dy, first),
  takeRows(dy, second!),
];

/** Adds to the sum so far, like the rows of other steps. */
export const takeRowsRule: GradientRule = (dy, { floats: [x], ints: [numbers] }, sumOf) => [
  { total: addRows(sumOf(0) ?? zerosLike(x), numbers, dy) },
];

export const addRowsRule: GradientRule = (dy, { ints: [numbers] }) => [dy, takeRows(dy, numbers)];
