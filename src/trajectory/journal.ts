import { readRecord, writeOnce } from "../runs/files.ts";

/**
 * Does `work` unless `file` holds its result already, and writes the result there. When two attempts race, the
 * first to write wins and both return what it wrote: a late attempt of a dead worker changes nothing.
 */
export async function once<T>(file: string, work: () => Promise<T>): Promise<T> {
  const recorded = await readRecord<T>(file);
  if (recorded !== undefined) return recorded;
  const result = await work();
  if (await writeOnce(file, JSON.stringify(result))) return result;
  return (await readRecord<T>(file)) ?? result;
}
