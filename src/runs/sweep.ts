import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isSystemError } from "../errors/system-error.ts";
import { writerOf } from "../files/temporary-name.ts";
import { prefixOf } from "../store/key.ts";
import { initialKey } from "../store/keys.ts";
import type { OpenRun } from "./open-runs.ts";

/** What a sweep deleted. */
export interface Swept {
  /** Temporary files that nobody will finish. */
  files: number;
  /** Attempts at steps and versions that were never committed. */
  attempts: number;
}

/** A temporary file of another machine, or of a release before 0.3, is left alone for so long, ms. */
const foreignAge = 60 * 60_000;

/**
 * Deletes what killed writers left in a run's folder: temporary files, and attempts at versions. What a process that lives
 * is writing is left alone, and what another machine wrote in the last hour.
 */
export async function sweepRun({ folder, store }: Pick<OpenRun, "folder" | "store">): Promise<Swept> {
  const swept = { files: 0, attempts: 0 };
  for (const prefix of [prefixOf("steps"), prefixOf("warm-start"), prefixOf(initialKey.tree)]) {
    const { objects, trees } = await store.sweep(prefix);
    swept.files += objects;
    swept.attempts += trees;
  }
  for (const path of await temporariesIn(folder.root)) {
    if (!(await isAbandoned(path))) continue;
    await rm(path, { recursive: true, force: true });
    swept.files++;
  }
  return swept;
}

/** A line that says what was swept; undefined if nothing was. */
export function sweptLine({ files, attempts }: Swept): string | undefined {
  if (files + attempts === 0) return undefined;
  return `deleted ${files} files and ${attempts} attempts at versions that killed writers left`;
}

/** In a folder and those under it, but not inside of temporary ones. */
async function temporariesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.name.endsWith(".tmp")) return [path];
      return entry.isDirectory() ? temporariesIn(path) : [];
    }),
  );
  return found.flat();
}

async function isAbandoned(path: string): Promise<boolean> {
  const isRunning = writerOf(path)?.isRunning;
  if (isRunning !== undefined) return !isRunning;
  try {
    return Date.now() - (await stat(path)).mtimeMs > foreignAge;
  } catch (error) {
    if (isSystemError(error, "ENOENT")) return false; // its writer has finished it
    throw error;
  }
}
