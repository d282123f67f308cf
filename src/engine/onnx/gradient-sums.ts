import { add } from "./elementwise.ts";
import type { Cotangent, FloatValue, GradientRows } from "./graph.ts";
import { scatterAddRows } from "./indexing.ts";
import { zerosLike } from "./shaping.ts";

/** Gradients by what they are of, as the steps behind it add to them. */
export interface GradientSums {
  add(value: FloatValue, cotangent: NonNullable<Cotangent>): void;
  has(value: FloatValue): boolean;
  /** The sum so far, rows added; undefined where there is none. */
  whole(value: FloatValue): FloatValue | undefined;
  /** The sum so far but for its rows. */
  dense(value: FloatValue): FloatValue | undefined;
  rows(value: FloatValue): readonly GradientRows[];
  /** The sum so far but for its rows, if it has no parts that are made when they are wanted. */
  complete(value: FloatValue): FloatValue | undefined;
}

/** No gradients as yet. */
export function createGradientSums(): GradientSums {
  const sums = new Map<FloatValue, FloatValue>();
  const later = new Map<FloatValue, (() => FloatValue)[]>();
  const rows = new Map<FloatValue, GradientRows[]>();
  const plus = (value: FloatValue, gradient: FloatValue) => {
    const sum = sums.get(value);
    sums.set(value, sum ? add(sum, gradient) : gradient);
  };
  const dense = (value: FloatValue) => {
    const makers = later.get(value) ?? [];
    later.delete(value);
    for (const make of makers) plus(value, make());
    return sums.get(value);
  };
  return {
    add(value, cotangent) {
      if ("graph" in cotangent) return plus(value, cotangent);
      if ("total" in cotangent) {
        sums.set(value, cotangent.total);
        return;
      }
      if (cotangent.later) later.set(value, [...(later.get(value) ?? []), cotangent.later]);
      if (cotangent.rows) rows.set(value, [...(rows.get(value) ?? []), cotangent.rows]);
    },
    has: (value) => sums.has(value) || later.has(value) || rows.has(value),
    whole(value) {
      const start = dense(value);
      const added = rows.get(value) ?? [];
      rows.delete(value);
      if (added.length === 0) return start;
      const whole = added.reduce(scatterAddRows, start ?? zerosLike(value));
      sums.set(value, whole);
      return whole;
    },
    dense,
    rows: (value) => rows.get(value) ?? [],
    complete: (value) => (later.has(value) ? undefined : sums.get(value)),
  };
}
