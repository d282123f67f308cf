import { frontAxis } from "./dimensions.ts";
import {
  type DataType,
  type FloatValue,
  type GradientRows,
  graphError,
  type IntValue,
  type Value,
} from "./graph.ts";
import { expand, reshape } from "./shaping.ts";

/** Returns rows of `table` by their number: [rows, …] and indices of any shape give [...indices, …]. */
export function gather<Type extends DataType>(
  table: Value<Type>,
  indices: IntValue | Value<"int32">,
): Value<Type> {
  const shape = [...indices.shape, ...table.shape.slice(1)];
  return table.graph.emit("Gather", [table, indices], { dtype: table.dtype, shape }, { axis: 0 });
}

/**
 * Returns one row of each table: [batch, rows, size] and its number [batch, 1] give [batch, size]. No gradient rule.
 */
export function gatherRow(tables: FloatValue, numbers: IntValue): FloatValue {
  const [batch, , size] = tables.shape;
  const output = { dtype: "float32", shape: [batch!, size!] } as const;
  return tables.graph.emit("GatherND", [tables, numbers], output, { batch_dims: 1 });
}

/** Returns the elements at `indices` along the last axis. Their other axes are those of `a`. */
export function gatherElements(a: FloatValue, indices: IntValue): FloatValue {
  if (a.shape.length !== indices.shape.length) throw graphError("gatherElements wants indices of equal rank");
  const axis = frontAxis(-1, a.shape.length);
  return a.graph.emit("GatherElements", [a, indices], { dtype: "float32", shape: indices.shape }, { axis });
}

/** Returns the places of the largest numbers along the last axis, largest first: [..., count]. */
export function largest(a: FloatValue, count: number): IntValue {
  return ranked(a, count).places;
}

/** Returns the largest numbers along the last axis, largest first, and their places: [..., count]. No gradient rule. */
export function ranked(a: FloatValue, count: number): { values: FloatValue; places: IntValue } {
  const shape = [...a.shape.slice(0, -1), count];
  const outputs = {
    first: { dtype: "float32", shape },
    others: [{ dtype: "int64", shape }],
  } as const;
  const { first, others } = a.graph.emitWith("TopK", [a, a.graph.ints([count])], outputs, { axis: -1 });
  return { values: first, places: others[0]! };
}

/** Returns `a` with rows added at their numbers. */
export function scatterAddRows(a: FloatValue, { numbers, updates }: GradientRows): FloatValue {
  const column = reshape(numbers, [numbers.shape[0]!, ...a.shape.slice(1).map(() => 1)]);
  return scatterAdd(a, expand(column, updates.shape), updates, 0);
}

/**
 * Returns `a` with `updates` added at `indices` along an axis. Repeated indices add up. Does not use ScatterND, whose
 * additions race on the CPU.
 */
export function scatterAdd(a: FloatValue, indices: IntValue, updates: FloatValue, axis: number): FloatValue {
  const attributes = { axis: frontAxis(axis, a.shape.length), reduction: "add" };
  const output = { dtype: "float32", shape: a.shape } as const;
  return a.graph.emit("ScatterElements", [a, indices, updates], output, attributes);
}
