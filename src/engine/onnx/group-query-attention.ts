import { defined } from "../../base/records/defined.ts";
import type { HalfType } from "./card-memory.ts";
import type { Attributes, FloatValue, Value } from "./graph.ts";
import type { RotaryTables } from "./rotary-embedding.ts";
import { runtimeDomain } from "./runtime-domain.ts";

/** What the runtime's operator is given, besides the new tokens. */
export interface GroupQueryOptions {
  heads: number;
  groups: number;
  /** Keys and values [batch, groups, capacity, head size]; the new ones are written into them. */
  keys: Value<"float32" | "int8" | HalfType>;
  values: Value<"float32" | "int8" | HalfType>;
  /** What each channel of keys and of values of int8 is multiplied with [groups, head size]. */
  scales?: readonly [keys: FloatValue, values: FloatValue] | undefined;
  /** The number of the last position of each row, padding included [batch]. */
  lastPositions: Value<"int32">;
  /** The most positions of a row [1]. With several new tokens and remembered ones, the batch must be of one row. */
  total: Value<"int32">;
  /** What queries and keys are rotated with, cosines and sines of their type [positions, head size / 2]; default: they aren't. */
  tables?: Readonly<Record<keyof RotaryTables, Value<"float32" | HalfType>>> | undefined;
  /** What products of queries and keys are multiplied with: 1 if the tables do it, see `scoreFactor`. */
  scale: number;
  /** Scores s become cap · tanh(s / cap); null: they stay. */
  cap: number | null;
  /** Positions that a token sees, itself included; default all before it. */
  window?: number | undefined;
}

/**
 * What rotations of queries and of keys are multiplied with so that their products are scaled scores: the runtime's
 * product of a single row is faster where it need not scale.
 */
export function scoreFactor(scale: number): number {
  return Math.sqrt(scale);
}

/** What both uses of the runtime's operator say of heads and scores. */
export type HeadOptions = Pick<GroupQueryOptions, "heads" | "groups" | "scale" | "window">;

/** The same as attributes. */
export function headAttributes({ heads, groups, scale, window }: HeadOptions): Attributes {
  return defined({
    num_heads: heads,
    kv_num_heads: groups,
    scale: { float: scale },
    local_window_size: window,
  });
}

/**
 * Rotates, remembers and attends in one operator: the new tokens [batch, length, heads · head size], as queries, keys
 * and values, or with all three beside each other. Returns what was attended to, keys and values. Where these two
 * are bound to the memory of the remembered ones, nothing is copied. The head size, and the part of it that tables turn, must be multiples of 16. On the
 * processor all is float32 (keys and values int8), on cards of half precision.
 */
export function groupQueryAttention<Type extends "float32" | HalfType>(
  [queries, keys, values]: readonly [Value<Type>, Value<Type>?, Value<Type>?],
  options: GroupQueryOptions,
): { attended: Value<Type>; keys: Value; values: Value } {
  const { graph } = queries;
  const { heads, tables, cap, scales } = options;
  const size = Number(options.keys.shape[3]);
  const inputs = [
    queries,
    keys ?? graph.absent,
    values ?? graph.absent,
    options.keys,
    options.values,
    options.lastPositions,
    options.total,
    tables?.cosines ?? graph.absent,
    tables?.sines ?? graph.absent,
    graph.absent,
    graph.absent,
    // Sinks that draw nothing keep the processor from its tiled kernel, which is slower for a token a row.
    ...(queries.dtype === "float32" ? [graph.floats(new Float32Array(heads).fill(-Infinity), [heads])] : []),
    ...(scales ?? []),
  ];
  const attributes = {
    ...headAttributes(options),
    do_rotary: tables ? 1 : 0,
    ...(cap !== null && { softcap: { float: cap } }),
    ...(scales && { k_quant_type: "PER_CHANNEL", v_quant_type: "PER_CHANNEL", kv_cache_bit_width: 8 }),
  };
  const outputs = {
    first: { dtype: queries.dtype, shape: [queries.shape[0]!, queries.shape[1]!, heads * size] },
    others: [options.keys, options.values].map(({ dtype, shape }) => ({ dtype, shape })),
  } as const;
  const { first, others } = graph.emitWith("GroupQueryAttention", inputs, outputs, attributes, runtimeDomain);
  return { attended: first, keys: others[0]!, values: others[1]! };
}
