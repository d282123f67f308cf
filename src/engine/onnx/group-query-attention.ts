import { defined } from "../../base/records/defined.ts";
import type { HalfType } from "./card-memory.ts";
import type { Attributes, FloatValue, Value } from "./graph.ts";
import type { RotaryTables } from "./rotary-embedding.ts";
import { runtimeDomain } from "./runtime-domain.ts";

/** The inputs of the runtime's operator in addition to the new tokens. */
export interface GroupQueryOptions {
  heads: number;
  groups: number;
  /** Keys and values [batch, groups, capacity, head size]. The new ones are written into them. */
  keys: Value<"float32" | "int8" | HalfType>;
  values: Value<"float32" | "int8" | HalfType>;
  /** The factor of each channel of int8 keys and values [groups, head size]. */
  scales?: readonly [keys: FloatValue, values: FloatValue] | undefined;
  /** The number of the last position of each row, including padding [batch]. */
  lastPositions: Value<"int32">;
  /** The most positions of a row [1]. With several new tokens and cached ones, the batch must have one row. */
  total: Value<"int32">;
  /**
   * The rotations of queries and keys: cosines and sines of their type [positions, head size / 2]. Default: no
   * rotation.
   */
  tables?: Readonly<Record<keyof RotaryTables, Value<"float32" | HalfType>>> | undefined;
  /** The factor of products of queries and keys; 1 if the tables include it, see `scoreFactor`. */
  scale: number;
  /** Scores s become cap · tanh(s / cap). Null: no cap. */
  cap: number | null;
  /** The number of positions that a token sees, including itself. Default: all before it. */
  window?: number | undefined;
}

/**
 * Returns the factor of rotations of queries and keys that makes their products scaled scores. The runtime's product of
 * a single row is faster without scaling.
 */
export function scoreFactor(scale: number): number {
  return Math.sqrt(scale);
}

/** The options for heads and scores in both uses of the runtime's operator. */
export type HeadOptions = Pick<GroupQueryOptions, "heads" | "groups" | "scale" | "window">;

/** Returns the options as attributes. */
export function headAttributes({ heads, groups, scale, window }: HeadOptions): Attributes {
  return defined({
    num_heads: heads,
    kv_num_heads: groups,
    scale: { float: scale },
    local_window_size: window,
  });
}

/**
 * Rotates, caches and attends in one operator. The new tokens are [batch, length, heads · head size] as queries, keys
 * and values, separate or joined. Returns attention's output, keys and values. If these two are bound to the memory of
 * the cached ones, nothing is copied. The head size and its rotated part must be multiples of 16. On the CPU everything
 * is float32 (keys and values may be int8), on cards half precision.
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
    // Sinks without weight keep the CPU from its tiled kernel, which is slower for one token per row.
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
