import { isExact } from "../json/exact-json.ts";
import type { SqlValue } from "./outcome.ts";

/** The value of a decimal as a database writes it: a number that keeps its digits, else a whole number, else its digits. */
export function decimalValue(text: string): SqlValue {
  const value = Number(text);
  if (!/\d/.test(text) || isExact(text)) return value; // NaN and the infinities are numbers, too
  const [, whole] = /^(-?\d+)(?:\.0*)?$/.exec(text) ?? [];
  return whole === undefined ? { decimal: text } : BigInt(whole);
}
