import { statSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { surely } from "./is-there.ts";
import { looking } from "./storage-errors.ts";

/**
 * From now on what this process and its children write is open to those alone whom the mode of `folder` lets in, and to no more than
 * the user's umask says. Returns what undoes it. In a thread, which has no umask of its own, it does nothing. Throws
 * STORE_NOT_READABLE.
 */
export function writeAs(folder: string): () => void {
  if (!isMainThread) return () => {};
  const { mode } = surely(() => looking(folder, () => statSync(folder)));
  const before = process.umask(0o077);
  process.umask(before | (0o077 & ~mode));
  return () => void process.umask(before);
}
