import { add } from "./elementwise.ts";
import type { Cotangent, FloatValue, GradientRows } from "./graph.ts";
import { scatterAddRows } from "./indexing.ts";
import { zerosLike } from "./shaping.ts";

/** The summed gradients of values, to which the steps on the way back add. */
export interface GradientSums {
  add(value: FloatValue, cotangent: NonNullable<Cotangent>): void;
  has(value: FloatValue): boolean;
  /** Returns the sum so far, including rows; undefined without a gradient. */
  whole(value: FloatValue): FloatValue | undefined;
  /** Returns the sum so far without its rows. */
  dense(value: FloatValue): FloatValue | undefined;
  rows(value: FloatValue): readonly GradientRows[];
  /** Returns the sum so far without its rows, unless it has parts that are computed on demand. */
  complete(value: FloatValue): FloatValue | undefined;
}

/** Creates empty sums. */
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
