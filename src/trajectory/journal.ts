import { existsSync } from "node:fs";
import { patiently } from "../files/patiently.ts";
import { readRecord, writeOnce } from "../files/whole-files.ts";
import type { Key } from "../store/key.ts";
import type { Store } from "../store/store.ts";

/** Looks again, after a wait: throws if another attempt has recorded the work meanwhile, whose result then counts. */
export type LookAgain = () => void;

/**
 * Does `work` unless `file` holds its result already, and writes the result there. Work that waits for something calls
 * `lookAgain` right before it begins. When two attempts race, the first to write wins and both return what it wrote:
 * a late attempt of a dead worker changes nothing. A result that the disk has no room for waits until it has. With
 * `flush` it survives a power failure once this returns.
 * Throws DISK_FULL, STORE_NOT_WRITABLE, RECORD_CORRUPT, and what `work` throws.
 */
export async function once<T>(
  file: string,
  work: (lookAgain: LookAgain) => Promise<T>,
  options: { flush?: boolean } = {},
): Promise<T> {
  const recorded = await readRecord<T>(file);
  if (recorded !== undefined) return recorded;
  let result: T;
  let isSuperseded = false;
  try {
    result = await work(() => {
      isSuperseded = existsSync(file);
      if (isSuperseded) throw new Error(`${file} was recorded by another attempt.`);
    });
  } catch (error) {
    const other = isSuperseded ? await readRecord<T>(file) : undefined;
    if (other === undefined) throw error;
    return other;
  }
  const content = JSON.stringify(result);
  if (await patiently(() => writeOnce(file, content, options))) return result;
  return (await readRecord<T>(file)) ?? result;
}

/**
 * Does `work` unless there is a record of it, and records the result. Work that waits for something looks again before it
 * begins: that rejects if another attempt has recorded it meanwhile. When two attempts race, the first to record wins and both
 * return what it wrote: a late attempt of a dead worker changes nothing. A record that can't be read is made again. With `flush`
 * it survives a power failure once this returns.
 * Throws DISK_FULL, STORE_NOT_WRITABLE, and what `work` throws.
 */
export async function recordedOnce<Value>(
  store: Pick<Store, "read" | "record">,
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
