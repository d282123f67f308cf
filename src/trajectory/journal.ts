import { readRecord, writeOnce } from "../runs/files.ts";
import { patiently } from "../runs/patiently.ts";

/**
 * Does `work` unless `file` holds its result already, and writes the result there. When two attempts race, the
 * first to write wins and both return what it wrote: a late attempt of a dead worker changes nothing. A result that
 * the disk has no room for waits until it has. With `flush` it survives a power failure once this returns.
 * Throws DISK_FULL, STORE_NOT_WRITABLE, RECORD_CORRUPT, and what `work` throws.
 */
export async function once<T>(
  file: string,
  work: () => Promise<T>,
  options: { flush?: boolean } = {},
): Promise<T> {
  const recorded = await readRecord<T>(file);
  if (recorded !== undefined) return recorded;
  const result = await work();
  const content = JSON.stringify(result);
  if (await patiently(() => writeOnce(file, content, options))) return result;
  return (await readRecord<T>(file)) ?? result;
}
