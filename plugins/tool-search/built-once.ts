import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** How often who waits for another one's file looks whether it is there, ms. */
const look = 100;
const busy = 5; // SQLITE_BUSY

/**
 * The file at a path, built by `build` beside it and then put there whole, unless it is there already. Of several who want it at
 * once, in threads or processes, one builds and the others wait for its lock, an empty file that stays; if that one is killed, the next one begins anew. Throws what `build` throws.
 */
export async function builtOnce(path: string, build: (work: string) => Promise<void>): Promise<string> {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  mkdirSync(dirname(path), { recursive: true });
  const lock = `${path}.lock`;
  const held = await locked(lock);
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return path;
    const work = `${path}.part`;
    rmSync(work, { force: true }); // of one that was killed
    try {
      await build(work);
      renameSync(work, path);
    } finally {
      rmSync(work, { force: true });
    }
    return path;
  } finally {
    held.close();
  }
}

/** A lock of the operating system's, as SQLite takes it on a file: it ends with its process. */
async function locked(path: string): Promise<DatabaseSync> {
  const lock = new DatabaseSync(path, { timeout: 0 });
  for (;;) {
    try {
      lock.exec("BEGIN EXCLUSIVE");
      return lock;
    } catch (error) {
      if (!(error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === busy)) {
        lock.close();
        throw error;
      }
    }
    await sleep(look);
  }
}
