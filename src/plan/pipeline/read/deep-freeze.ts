/** Freezes a JSON value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
