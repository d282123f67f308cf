import type { Key } from "../store/key.ts";
import type { Journal } from "./run-journal.ts";

/**
 * Does `work` unless there is a record of it, and records the result. Work that waits for something looks again before it
 * begins: that rejects if another attempt has recorded it meanwhile. When two attempts race, the first to record wins and both
 * return what it wrote: a late attempt of a dead worker changes nothing. A record that can't be read is made again. With `flush`
 * it survives a power failure once this returns.
 * Throws DISK_FULL, STORE_NOT_WRITABLE, and what `work` throws.
 */
export async function recordedOnce<Value>(
  store: Journal,
  key: Key<Value>,
  work: (lookAgain: () => Promise<void>) => Promise<Value>,
  options: { flush?: boolean } = {},
): Promise<Value> {
  const recorded = await store.read(key);
  if (recorded !== undefined) return recorded;
  let result: Value;
  let other: Value | undefined;
  try {
    result = await work(async () => {
      other = await store.read(key);
      if (other !== undefined) throw new Error(`${key.path} was recorded by another attempt.`);
    });
  } catch (error) {
    if (other === undefined) throw error;
    return other;
  }
  return store.record(key, result, options);
}
