import type { Key } from "../store/key.ts";
import type { Journal } from "./run-journal.ts";

/**
 * How long the last look for a record may take, in ms. A slower answer may be older than another attempt's record,
 * because the process may have been stopped for longer than a heartbeat while it waited.
 */
const freshness = 2000;

/**
 * Runs `work` unless its result is recorded, and records the result. `work` receives a function to call before it
 * starts something after a wait: it rejects if another attempt has recorded a result meanwhile. If two attempts
 * race, the first to record wins and both return its result, so a late attempt of a dead worker changes nothing. An
 * unreadable record is created again. With `flush` it survives a power failure once this returns. Throws DISK_FULL,
 * STORE_NOT_WRITABLE and `work`'s errors.
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
      const begun = performance.now();
      other = await store.read(key);
      if (other === undefined && performance.now() - begun > freshness) other = await store.read(key);
      if (other !== undefined) throw new Error(`${key.path} was recorded by another attempt.`);
    });
  } catch (error) {
    if (other === undefined) throw error;
    return other;
  }
  return store.record(key, result, options);
}
