import type { SqlValue } from "./outcome.ts";

/** About how many bytes a row takes. */
export function byteSize(values: readonly SqlValue[]): number {
  return values.reduce<number>((sum, value) => sum + sizeOf(value), 0);
}

function sizeOf(value: SqlValue): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length + 8 : 8;
}
