import { statSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../../base/files/names-in.ts";
import { patiently } from "../../base/files/patiently.ts";
import { removeFile } from "../../base/files/remove-file.ts";
import { looking } from "../../base/files/storage-errors.ts";
import { writerOf } from "../../base/files/temporary-name.ts";
import { writing } from "../store/folder-backend.ts";
import { prefixOf, type TreeKey } from "../store/key.ts";
import { foldedKey, initialKey, recordedStepKey, stepPrefix, trainedStepKey } from "../store/keys.ts";
import { lengthOfRow } from "../store/row.ts";
import type { Store } from "../store/store.ts";
import { treeRecordKey } from "../store/tree-paths.ts";
import type { OpenRun } from "./open-runs.ts";

/** What a sweep deleted. */
export interface Swept {
  /** Temporary files that nobody will finish. */
  files: number;
  /** Attempts at steps and versions that were never committed. */
  attempts: number;
}

/** A temporary file of another machine is left alone for so long, ms. */
const foreignAge = 60 * 60_000;

/**
 * Deletes what killed writers left in a run's folder: temporary files, and attempts at versions. What a process that lives
 * is writing is left alone, and what another machine wrote in the last hour. The folders of trajectories are not looked into:
 * their records are the store's, which writes them elsewhere. With `isWhole` all steps are looked at, else the newest, whose
 * number does not grow: those before them were swept when they were folded.
 */
export async function sweepRun(
  { folder, store }: Pick<OpenRun, "folder" | "store">,
  { isWhole = false } = {},
): Promise<Swept> {
  const swept = { files: 0, attempts: 0 };
  const newest = await lengthOfRow(store, recordedStepKey);
  const steps = isWhole
    ? Array.from({ length: newest + 1 }, (_, at) => at + 1)
    : await newestSteps(store, newest);
  const prefixes = [prefixOf("warm-start")];
  for (const step of steps)
    if (!(await isCommitLost(store, trainedStepKey(step), step <= newest))) prefixes.push(stepPrefix(step));
  if (!(await isCommitLost(store, initialKey, newest > 0))) prefixes.push(prefixOf(initialKey.tree));
  for (const prefix of prefixes) {
    const { objects, trees } = await store.sweep(prefix);
    swept.files += objects;
    swept.attempts += trees;
  }
  for (const written of [folder.root, folder.builds, join(folder.root, writing)]) {
    for (const name of await patiently(() => namesIn(written))) {
      const path = join(written, name);
      if (!name.endsWith(".tmp") || !(await patiently(async () => isAbandoned(path)))) continue;
      await patiently(async () => removeFile(path));
      swept.files++;
    }
  }
  return swept;
}

/**
 * Whether a version that was used has no commit record any more: a person may bring that back from a copy, so its files, which
 * nothing names now, stay.
 */
async function isCommitLost(
  store: Pick<Store, "has">,
  key: TreeKey<unknown>,
  wasUsed: boolean,
): Promise<boolean> {
  return wasUsed && !(await store.has(treeRecordKey(key)));
}

/** The step under way, and those before it, back to one whose trajectories are in a file. */
async function newestSteps(store: Pick<Store, "has">, newest: number): Promise<number[]> {
  const steps = [newest + 1];
  for (let step = newest; step > 0; step--) {
    steps.push(step);
    if (await store.has(treeRecordKey(foldedKey(step)))) break;
  }
  return steps;
}

/** A line that says what was swept; undefined if nothing was. */
export function sweptLine({ files, attempts }: Swept): string | undefined {
  if (files + attempts === 0) return undefined;
  return `deleted ${files} files and ${attempts} incomplete versions of killed processes`;
}

function isAbandoned(path: string): boolean {
  const isRunning = writerOf(path)?.isRunning;
  if (isRunning !== undefined) return !isRunning;
  const found = looking(path, () => statSync(path, { throwIfNoEntry: false }));
  return found !== undefined && Date.now() - found.mtimeMs > foreignAge; // else its writer has finished it
}
