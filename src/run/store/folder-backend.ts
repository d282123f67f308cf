import { closeSync, fsyncSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
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

/** Where objects are written before they are linked into their places: one folder, so that a sweep looks there alone. */
export const writing = "writing";

/**
 * Objects as files of a folder, which may be on a shared file system: all it takes is that a link fails where the name is
 * taken. Synchronous but for trees: a turn's record costs less than the ways through the thread pool would.
 */
export function folderBackend(root: string): Backend {
  const fileOf = (path: string) => join(root, path);

  function put(path: string, content: Uint8Array, flush: boolean): boolean {
    const file = fileOf(path);
    const temporary = temporaryName(join(root, writing, "object"));
    let folder: number | undefined;
    try {
      requireMarkToWrite(file);
      making(temporary, flush, () => writeFileSync(temporary, content, { flush }));
      if (!flush) return making(file, flush, () => linkOnce(temporary, file));
      // What might be wanting is fetched before the link, not after it.
      folder = making(file, flush, () => openFolder(dirname(file)));
      const isFirst = making(file, flush, () => linkOnce(temporary, file));
      if (folder !== undefined) fsyncSync(folder); // also where another was first, or an earlier try of this one
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
      if (!isListed && !isThere(file)) return undefined; // as a rule: an error costs more than the look
      return orAbsent(file, async () => readFileSync(file));
    },
    size: async (path) => sizeAt(fileOf(path)),
    digest: (path) => orAbsent(fileOf(path), () => digestOf(fileOf(path))),
    remove: async (path) => {
      const file = fileOf(path);
      removeFile(file);
      removeEmpty(root, dirname(file));
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
        requireMarkToWrite(folder); // what was written is in the run's folder
        return files;
      } catch (error) {
        await rm(folder, { recursive: true, force: true }).catch(() => {}); // else it is swept later
        throw storageError(readingErrorWithin(error, folder), folder); // what wrote may have read what it wrote
      }
    },
    inFolder: async (prefix, files, work, { isUnread = false } = {}) => {
      const folder = resolve(fileOf(prefix)); // without a slash at its end
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

/** How often a folder is made that another process removes, since it holds nothing. */
const makings = 10;

/** Does it, after making the folder of `file` if that is what it lacks. */
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

/** Removes a folder that holds nothing any more, and those above it, up to the root. */
function removeEmpty(root: string, folder: string): void {
  for (let empty = folder; empty.length > root.length; empty = dirname(empty)) {
    try {
      rmdirSync(empty);
    } catch {
      return; // it holds something, or another removes it
    }
  }
}

/** What can't be removed now (a store that became read-only) is swept later. */
function removeNow(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // the write's own error says why
  }
}

/** What `read` makes of a file that is there. Throws STORE_NOT_READABLE. */
async function reading<Result>(file: string, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    throw readingError(error, file);
  }
}

/** What `read` makes of a file; undefined where there is none. Throws STORE_NOT_READABLE. */
async function orAbsent<Result>(file: string, read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isAbsence(error)) throw readingError(error, file);
    requireMarkToRead(file);
    return undefined;
  }
}

/** Deletes what processes of this machine left that have ended; what another machine writes is let be. */
async function sweepWriting(folder: string): Promise<number> {
  const left = (await namesIn(folder)).filter((name) => writerOf(name)?.isRunning === false);
  for (const name of left) removeFile(join(folder, name));
  return left.length;
}

/** Files that this process has read whole and found to be what their trees say, by path and state. */
const checks = new Map<string, Promise<void>>();

/**
 * Reads a file whole and holds it against its tree's record, once in this process for as long as its inode, size and times stay. What
 * seems broken is read twice: once said, it is so for good. Throws FileBroken, which names the file by `name`.
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
