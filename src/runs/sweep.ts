import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { TrainedStep } from "../contracts/ledger.ts";
import { isSystemError } from "../errors/system-error.ts";
import { takeName } from "../files/folder-once.ts";
import { namesIn } from "../files/names-in.ts";
import { writerOf } from "../files/temporary-name.ts";
import { readRecord } from "../files/whole-files.ts";
import type { RunFolder } from "./run-folder.ts";

/** What a sweep found. */
export interface Swept {
  /** Files and folders that nobody will finish, deleted. */
  files: number;
  folders: number;
  /** Folders of committed work that got their names. */
  finished: number;
}

/** A temporary file of another machine, or of a release before 0.3, is left alone for so long, ms. */
const foreignAge = 60 * 60_000;

/**
 * Clears up what killed writers left in a run's folder: temporary files and folders are deleted, committed ones get
 * their names. What a process that lives is writing is left alone, and what another machine wrote in the last hour.
 */
export async function sweepRun({ root }: Pick<RunFolder, "root">): Promise<Swept> {
  const swept = { files: 0, folders: 0, finished: 0 };
  const found = await temporariesIn(root);
  if (found.length === 0) return swept;
  const attempts = await committedAttempts(root);
  for (const { path, isFolder } of found) {
    const writer = writerOf(path);
    if (writer !== undefined && isFolder && attempts.has(writer.attempt)) {
      await takeName(path, path.slice(0, -`.${writer.attempt}.tmp`.length));
      swept.finished++;
    } else if (await isAbandoned(path, writer)) {
      await rm(path, { recursive: true, force: true });
      swept[isFolder ? "folders" : "files"]++;
    }
  }
  return swept;
}

/** A line that says what was swept; undefined if nothing was. */
export function sweptLine({ files, folders, finished }: Swept): string | undefined {
  const parts = [
    ...(files + folders > 0
      ? [`deleted ${files} files and ${folders} folders that killed writers left`]
      : []),
    ...(finished > 0 ? [`finished ${finished} folders of committed work`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

/** In a folder and those under it, but not inside of temporary ones. */
async function temporariesIn(folder: string): Promise<{ path: string; isFolder: boolean }[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.name.endsWith(".tmp")) return [{ path, isFolder: entry.isDirectory() }];
      return entry.isDirectory() ? temporariesIn(path) : [];
    }),
  );
  return found.flat();
}

async function committedAttempts(root: string): Promise<Set<string>> {
  const attempts = new Set<string>();
  for (const folder of ["steps", "warm-start"]) {
    for (const name of await namesIn(join(root, folder))) {
      if (!name.endsWith(".json")) continue;
      const record = await readRecord<Pick<TrainedStep, "attempt">>(join(root, folder, name));
      if (record?.attempt !== undefined) attempts.add(record.attempt);
    }
  }
  return attempts;
}

async function isAbandoned(path: string, writer: ReturnType<typeof writerOf>): Promise<boolean> {
  if (writer?.isRunning !== undefined) return !writer.isRunning;
  try {
    return Date.now() - (await stat(path)).mtimeMs > foreignAge;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return false; // its writer has finished it
    throw error;
  }
}
