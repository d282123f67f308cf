import { isExact } from "../json/exact-json.ts";
import type { SqlValue } from "./outcome.ts";

/**
 * A decimal from a database: a number if that keeps its digits, else a bigint for a whole number, else its digits.
 */
export function decimalValue(text: string): SqlValue {
  const value = Number(text);
  if (!/\d/.test(text) || isExact(text)) return value; // NaN and the infinities are numbers too
  const [, whole] = /^(-?\d+)(?:\.0*)?$/.exec(text) ?? [];
  return whole === undefined ? { decimal: text } : BigInt(whole);
}
