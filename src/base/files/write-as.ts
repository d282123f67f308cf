import { statSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { surely } from "./is-there.ts";
import { looking } from "./storage-errors.ts";

/**
 * From now on only users whom the mode of `folder` admits can open the files that this process and its children
 * write, and the user's umask still applies. Returns a function that undoes this. It does nothing in a thread, which
 * has no umask of its own. Throws STORE_NOT_READABLE.
 */
export function writeAs(folder: string): () => void {
  if (!isMainThread) return () => {};
  const { mode } = surely(() => looking(folder, () => statSync(folder)));
  const before = process.umask(0o077);
  process.umask(before | (0o077 & ~mode));
  return () => void process.umask(before);
}
