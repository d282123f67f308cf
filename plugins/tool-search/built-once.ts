import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two attempts to take the lock. */
const look = 100;
const busy = 5; // SQLITE_BUSY

/**
 * Returns the file at `path`. If it is missing, `build` writes it next to this path, and it is then moved
 * there as a whole. If several threads or processes need it, one builds it and the others wait for its lock,
 * an empty file that stays. If the builder is killed, the next one starts over. Throws the errors of `build`.
 */
export async function builtOnce(path: string, build: (work: string) => Promise<void>): Promise<string> {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return path;
  mkdirSync(dirname(path), { recursive: true });
  const lock = `${path}.lock`;
  const held = await locked(lock);
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return path;
    const work = `${path}.part`;
    rmSync(work, { force: true }); // left by a builder that was killed
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

/** Takes an operating system's lock on a file, with SQLite. The lock ends with its process. */
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
