import { statSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../../base/files/names-in.ts";
import { patiently } from "../../base/files/patiently.ts";
import { removeFile } from "../../base/files/remove-file.ts";
import { looking } from "../../base/files/storage-errors.ts";
import { writerOf } from "../../base/files/temporary-name.ts";
import { readRecord } from "../../base/files/whole-files.ts";
import { isRunning, type ProcessIdentity } from "../../base/processes/process-identity.ts";
import { writing } from "../store/folder-backend.ts";
import { prefixOf, type TreeKey } from "../store/key.ts";
import { foldedKey, initialKey, recordedStepKey, stepPrefix, trainedStepKey } from "../store/keys.ts";
import { lengthOfRow } from "../store/row.ts";
import type { Store } from "../store/store.ts";
import { treeRecordKey } from "../store/tree-paths.ts";
import { isHolderClaim } from "./holder-claim.ts";
import type { OpenRun } from "./open-runs.ts";

/** Counts of the things that a sweep deleted. */
export interface Swept {
  /** Temporary files of dead writers. */
  files: number;
  /** Attempts at steps and versions that were never committed. */
  attempts: number;
}

/** How long another machine's temporary file is left alone, in ms. */
const foreignAge = 60 * 60_000;

/**
 * Deletes the temporary files and attempts at versions that killed writers left in a run's folder. It leaves alone
 * the files of living processes, and those that another machine wrote in the last hour. It does not read the folders
 * of trajectories, whose records the store writes elsewhere. With `isWhole` it checks all steps, else only the
 * newest, whose number is bounded: earlier ones were swept when they were folded.
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
      const isLeft = isHolderClaim(name)
        ? await isOfDead(path)
        : name.endsWith(".tmp") && (await patiently(async () => isAbandoned(path)));
      if (!isLeft) continue;
      await patiently(async () => removeFile(path));
      swept.files++;
    }
  }
  return swept;
}

/** Whether a claim's process has ended. */
async function isOfDead(path: string): Promise<boolean> {
  const claimed = await patiently(() => readRecord<{ process: ProcessIdentity }>(path));
  return claimed !== undefined && isRunning(claimed.process) === false;
}

/**
 * Whether the commit record of a version in use is missing. A person may restore it from a copy, so the version's
 * files stay although nothing refers to them now.
 */
async function isCommitLost(
  store: Pick<Store, "has">,
  key: TreeKey<unknown>,
  wasUsed: boolean,
): Promise<boolean> {
  return wasUsed && !(await store.has(treeRecordKey(key)));
}

/** The step in progress and those before it, back to the last one whose trajectories are in a file. */
async function newestSteps(store: Pick<Store, "has">, newest: number): Promise<number[]> {
  const steps = [newest + 1];
  for (let step = newest; step > 0; step--) {
    steps.push(step);
    if (await store.has(treeRecordKey(foldedKey(step)))) break;
  }
  return steps;
}

/** A line about the deleted things; undefined if nothing was deleted. */
export function sweptLine({ files, attempts }: Swept): string | undefined {
  if (files + attempts === 0) return undefined;
  return `deleted ${files} files and ${attempts} incomplete versions of killed processes`;
}

function isAbandoned(path: string): boolean {
  const writer = writerOf(path);
  if (writer?.isRunning !== undefined) return !writer.isRunning;
  const found = looking(path, () => statSync(path, { throwIfNoEntry: false }));
  return found !== undefined && Date.now() - found.mtimeMs > foreignAge; // otherwise its writer has finished it
}
