import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { EverturnError } from "../errors/everturn-error.ts";
import { isSystemError } from "../errors/system-error.ts";
import { fillFolders, removeFolders, takeName } from "../files/folder-once.ts";
import { patiently } from "../files/patiently.ts";
import { newAttempt, temporaryName } from "../files/temporary-name.ts";
import { readRecord, writeOnce } from "../files/whole-files.ts";

/** What the record of committed work says of the commit. */
export interface Commit {
  /** Which attempt's folders they are. */
  attempt: string;
  /** The committed files by folder and name, such as `policies/v0002/model.safetensors`, with their sizes in bytes. */
  files: Record<string, number>;
}

/**
 * The record in `file` if the work was committed; its folders then have their names, also where the attempt that
 * committed them was killed before it gave them those. Throws RECORD_CORRUPT.
 */
export async function committed<Result>(
  file: string,
  folders: readonly string[],
): Promise<(Result & Partial<Commit>) | undefined> {
  const record = await readRecord<Result & Partial<Commit>>(file);
  if (record?.attempt !== undefined) await giveNames(record.attempt, folders);
  return record;
}

/**
 * Commits work that leaves folders and a record, all of it or nothing whenever a kill comes. `fill` writes temporary
 * folders, one for each of `folders`. Then the record takes its name, which is the commit: of attempts that race the
 * first wins. Then the folders take theirs. All is flushed. Waits where the disk is full (`patiently`).
 * The record may stand although writing it failed. It tells whose the commit is, and no folder is removed unless it
 * names another attempt: what is left of one that failed is swept when its process has ended.
 * Throws ATTEMPT_SUPERSEDED if another attempt was first, and what writing fails with.
 */
export async function commit<Result extends object>(
  file: string,
  folders: readonly string[],
  fill: (temporary: readonly string[]) => Promise<void>,
  result: () => Result,
): Promise<Result & Commit> {
  const attempt = newAttempt();
  const temporary = folders.map((folder) => temporaryName(folder, attempt));
  let files: Commit["files"] = {};
  const filling = async () => {
    await fill(temporary);
    files = await sizes(folders, temporary);
  };
  await patiently(() => fillFolders(temporary, filling));
  const record = { ...result(), attempt, files };
  const content = JSON.stringify(record);
  const isFirst = await patiently(() => writeOnce(file, content, { flush: true }));
  if (!isFirst && (await readRecord<Partial<Commit>>(file))?.attempt !== attempt) {
    await removeFolders(temporary);
    throw new EverturnError("ATTEMPT_SUPERSEDED", { file });
  }
  await giveNames(attempt, folders);
  return record;
}

/**
 * In this order: a folder that has its name says that those before it have theirs. An attempt that found the record
 * may give them at the same time.
 */
async function giveNames(attempt: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const temporary = temporaryName(folder, attempt);
    try {
      if (existsSync(temporary)) await patiently(() => takeName(temporary, folder));
    } catch (error) {
      if (!isSystemError(error, "ENOENT") || existsSync(temporary)) throw error;
    }
  }
}

async function sizes(
  folders: readonly string[],
  temporary: readonly string[],
): Promise<Record<string, number>> {
  const files: Record<string, number> = {};
  for (const [index, folder] of temporary.entries()) {
    const target = folders[index] ?? folder;
    for (const name of (await readdir(folder)).sort()) {
      files[`${basename(join(target, ".."))}/${basename(target)}/${name}`] = (
        await stat(join(folder, name))
      ).size;
    }
  }
  return files;
}
