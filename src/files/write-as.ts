import { statSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/**
 * From now on what this process and its children write is open to those alone whom the mode of `folder` lets in, and to no more than
 * the user's umask says. Returns what undoes it. In a thread, which has no umask of its own, it does nothing.
 */
export function writeAs(folder: string): () => void {
  if (!isMainThread) return () => {};
  const before = process.umask(0o077);
  process.umask(before | (0o077 & ~statSync(folder).mode));
  return () => void process.umask(before);
}
