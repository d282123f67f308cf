import type { Estimate } from "../../contracts/measured.ts";
import { number, percent } from "./format.ts";

/** A measure with its 95 % interval: `41.0 % (37.2–44.9)`. A reward is a plain number: `0.41 (0.372–0.449)`. */
export function estimateText(name: string, { value, low, high }: Estimate): string {
  const write = name === "reward" ? number : percent;
  const bound = (one: number) => write(one).replace(/ %$/, "");
  if (low === undefined || high === undefined) return write(value);
  return `${write(value)} (${bound(low)}${low < 0 || high < 0 ? " to " : "–"}${bound(high)})`;
}

/** The difference of two measures: `+11.1 % (4.0–18.2)`. Percentages are percentage points. */
export function differenceText(name: string, difference: Estimate): string {
  const text = estimateText(name, difference);
  return difference.value > 0 ? `+${text}` : text;
}

/** A p-value: `0.032`, `< 0.001`. */
export function probabilityText(p: number): string {
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}
