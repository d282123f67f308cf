import type { SqlValue } from "./outcome.ts";

/** Roughly how many bytes a row takes. */
export function byteSize(values: readonly SqlValue[]): number {
  return values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
}

function sizeOf(value: SqlValue): number {
  if (typeof value === "object" && value !== null && "decimal" in value) return value.decimal.length + 8;
  return typeof value === "string" || value instanceof Uint8Array ? value.length + 8 : 8;
}
