/** A linear map from data to pixels. */
export type Scale = (value: number) => number;

/** Maps `domain` onto `range`. A domain of zero width maps to the middle. */
export function linear([low, high]: [number, number], [from, to]: [number, number]): Scale {
  if (high === low) return () => (from + to) / 2;
  return (value) => round(from + ((value - low) / (high - low)) * (to - from));
}

/** Rounds a position to a tenth of a pixel, so that plots stay small. */
export function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

/** About `count` round numbers (1, 2 or 5 times a power of ten apart) that cover `low` to `high`. */
export function ticks(low: number, high: number, count: number): number[] {
  const span = high - low || Math.abs(high) || 1;
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step =
    [1, 2, 5, 10].map((factor) => factor * power).find((size) => span / size <= count) ?? power * 10;
  const first = Math.floor(low / step + 1e-9);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: Math.max(1, last - first) + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}

/** At most about `count` whole steps to label on an x axis from `first` to `last`. */
export function stepTicks(first: number, last: number, count: number): number[] {
  const inside = ticks(first, last, count).filter(
    (value) => Number.isInteger(value) && value >= first && value <= last,
  );
  return inside.length > 0 ? inside : [first];
}
