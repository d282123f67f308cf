import { closeSync, fsyncSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isAbsence, isSystemError } from "../../base/errors/system-error.ts";
import { flushAll, openFolder } from "../../base/files/flush.ts";
import { isThere, sizeAt } from "../../base/files/is-there.ts";
import { linkOnce } from "../../base/files/link-once.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { requireMarkToRead, requireMarkToWrite } from "../../base/files/marked-folder.ts";
import { namesIn } from "../../base/files/names-in.ts";
import { persistently } from "../../base/files/persistently.ts";
import { removeFile } from "../../base/files/remove-file.ts";
import { readingError, readingErrorWithin, storageError } from "../../base/files/storage-errors.ts";
import { temporaryName, writerOf } from "../../base/files/temporary-name.ts";
import { type Backend, FileBroken, type Page } from "./backend.ts";
import { digestOf, type Files, filesIn } from "./tree.ts";
import { pageOf } from "./walk.ts";

/**
 * The only folder in which objects are written before they are linked into place, so that a sweep can check it
 * alone.
 */
export const writing = "writing";

/**
 * Objects as files in a folder, which may be on a shared file system. It only requires that a link fails if the name
 * is taken. It is synchronous except for trees, because a turn's record costs less than trips through the thread
 * pool.
 */
export function folderBackend(root: string): Backend {
  const fileOf = (path: string) => join(root, path);
  const prune = pruning(root);

  function put(path: string, content: Uint8Array, flush: boolean): boolean {
    const file = fileOf(path);
    const temporary = temporaryName(join(root, writing, "object"));
    let folder: number | undefined;
    try {
      requireMarkToWrite(file);
      making(temporary, flush, () => writeFileSync(temporary, content, { flush }));
      if (!flush) return making(file, flush, () => linkOnce(temporary, file));
      const isFirst = making(file, flush, () => {
        if (folder !== undefined) closeSync(folder); // it was removed before the link
        folder = undefined;
        folder = openFolder(dirname(file)); // fails before the link, not after it, if resources are missing
        return linkOnce(temporary, file);
      });
      if (folder !== undefined) fsyncSync(folder); // even if another writer or an earlier try of this one came first
      return isFirst;
    } catch (error) {
      throw storageError(error, file, content.length);
    } finally {
      if (folder !== undefined) closeSync(folder);
      removeNow(temporary);
    }
  }

  return {
    put: async (path, content, { flush }) => put(path, content, flush),
    get: async (path, { isListed } = { isListed: false }) => {
      const file = fileOf(path);
      if (!isListed && !isThere(file)) return undefined; // the usual case: an error costs more than the look
      return orAbsent(file, async () => readFileSync(file));
    },
    size: async (path) => sizeAt(fileOf(path)),
    digest: (path) => orAbsent(fileOf(path), () => digestOf(fileOf(path))),
    remove: async (path) => {
      const file = fileOf(path);
      removeFile(file);
      await prune(dirname(file));
    },
    page: async (prefix, after): Promise<Page> => pageOf(root, prefix, after, (name) => name === writing),
    fill: async (prefix, write) => {
      const folder = fileOf(prefix);
      try {
        requireMarkToWrite(folder);
        await persistently(() => makeFolder(folder, true));
        await write(folder);
        await flushAll(folder);
        const files = await filesIn(folder);
        requireMarkToWrite(folder); // the files are written inside the run's folder
        return files;
      } catch (error) {
        await rm(folder, { recursive: true, force: true }).catch(() => {}); // a later sweep removes it otherwise
        throw storageError(readingErrorWithin(error, folder), folder); // the writer may have read its own files
      }
    },
    inFolder: async (prefix, files, work, { isUnread = false } = {}) => {
      const folder = resolve(fileOf(prefix)); // without a trailing slash
      for (const [name, { size }] of Object.entries(files)) {
        const found = await persistently(() => sizeAt(join(folder, name)));
        if (found !== size) throw new FileBroken(`${prefix}${name} has ${found ?? "no"} bytes, not ${size}`);
      }
      if (!isUnread) {
        for (const [name, file] of Object.entries(files)) {
          await reading(join(folder, name), () => checkFile(join(folder, name), `${prefix}${name}`, file));
        }
      }
      return work(folder);
    },
    sweep: () => sweepWriting(join(root, writing)),
  };
}

/** How often an empty folder is recreated after another process removes it. */
const makings = 10;

/** Runs `act`, and if the folder of `file` is missing, creates it first. */
function making<Result>(file: string, flush: boolean, act: () => Result): Result {
  for (let tries = 0; ; tries++) {
    try {
      if (tries > 0) makeFolder(dirname(file), flush);
      return act();
    } catch (error) {
      if (tries === makings || !isSystemError(error, "ENOENT")) throw error;
    }
  }
}

/** Returns a function that removes a folder if it is empty, once for all files that are removed at the same time. */
function pruning(root: string): (folder: string) => Promise<void> {
  const waiting = new Map<string, Promise<void>>();
  return (folder) => {
    const pruned = waiting.get(folder) ?? prune(folder);
    waiting.set(folder, pruned);
    return pruned;
  };

  async function prune(folder: string): Promise<void> {
    await nextTurn();
    waiting.delete(folder);
    await removeEmpty(root, folder);
  }
}

/**
 * Removes an empty folder and its empty parents, up to the root. It uses the thread pool, because some file systems
 * take long for this.
 */
async function removeEmpty(root: string, folder: string): Promise<void> {
  for (let empty = folder; empty.length > root.length; empty = dirname(empty)) {
    try {
      await rmdir(empty);
    } catch {
      return; // it is not empty, or another process removes it
    }
  }
}

/** Removes a file if possible. On a store that became read-only, a later sweep does. */
function removeNow(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // the write's own error explains why
  }
}

/** The result of `read` for a file that exists. Throws STORE_NOT_READABLE. */
async function reading<Result>(file: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw readingError(error, file);
  }
}

/** The result of `read` for a file; undefined if it does not exist. Throws STORE_NOT_READABLE. */
async function orAbsent<Result>(file: string, read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isAbsence(error)) throw readingError(error, file);
    requireMarkToRead(file);
    return undefined;
  }
}

/** Deletes the leftovers of dead processes of this machine, but not the files that other machines write. */
async function sweepWriting(folder: string): Promise<number> {
  const left = (await namesIn(folder)).filter((name) => writerOf(name)?.isRunning === false);
  for (const name of left) removeFile(join(folder, name));
  return left.length;
}

/** Files that this process has read and found to match their trees, by path and state. */
const checks = new Map<string, Promise<void>>();

/**
 * Compares a file's content with its tree's record, once per process while its inode, size and times stay the same.
 * It reads a file that seems broken twice, because the verdict is final. Throws FileBroken, which names the file by
 * `name`.
 */
async function checkFile(path: string, name: string, { size, sha256 }: Files[string]): Promise<void> {
  const { dev, ino, mtimeNs, ctimeNs } = await persistently(() => stat(path, { bigint: true }));
  const state = `${path} ${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs} ${sha256}`;
  const check = checks.get(state) ?? checked();
  checks.set(state, check);
  try {
    await check;
  } catch (error) {
    checks.delete(state);
    throw error;
  }

  async function checked(): Promise<void> {
    for (let tries = 0; tries < 2; tries++) {
      const found = await digestOf(path);
      if (found.size === size && found.sha256 === sha256) return;
    }
    throw new FileBroken(`${name} is not what its tree's record says`);
  }
}
