import { mkdir } from "node:fs/promises";
import { isSystemError } from "../../base/errors/system-error.ts";
import { makeFolder } from "../../base/files/make-folder.ts";
import { markFolder } from "../../base/files/marked-folder.ts";
import { littlePatience, patiently } from "../../base/files/patiently.ts";
import { persistently } from "../../base/files/persistently.ts";
import { storageError } from "../../base/files/storage-errors.ts";
import { writeAs } from "../../base/files/write-as.ts";
import { defined } from "../../base/records/defined.ts";
import { checkFolder, pathError } from "../../base/validation/path-error.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { RunFile } from "../../contracts/run.ts";
import { planRow, runFileKey } from "../store/keys.ts";
import { checkStore } from "../store/named-backend.ts";
import { openFolderStore, openStoreOf } from "../store/open-run-store.ts";
import { pooled, prefixed, separateQueues, sharedQueues } from "./queues.ts";
import { runFolder } from "./run-folder.ts";

/** How a run's roles are distributed over worker processes. */
export const workerLayouts = ["shared", "separate", "elsewhere"] as const;

/** Where a new run's folder lies, and what its run file says. */
export interface NewRunFolder {
  runs: string;
  /** A given id, which continues a run that a killed command left incomplete. Default: `<pipeline>-<date>-<time>`. */
  id?: string | undefined;
  /** The Temporal server that the run joins. Default: one of its own. */
  server?: { address: string; namespace: string } | undefined;
  telemetry?: boolean;
  /**
   * One process for all roles but the trainer, or one per role. By default it is shared if the run has its own server,
   * and separate if it joins one, because workers may then run on other machines; with `elsewhere`, all of them do.
   */
  workers?: (typeof workerLayouts)[number] | undefined;
  /** The URL of its store, if that is not its folder. */
  store?: string | undefined;
  /** The key that encrypts its payloads on the server. */
  encryption?: RunFile["encryption"] | undefined;
  /** The pool of workers that generates and trains for it. */
  pool?: string | undefined;
  /** Its place among the runs of its pool. */
  priority?: number | undefined;
}

/**
 * Creates the folder of a new run, which only the user can access, and records its plan there. Returns the run's id.
 * Throws STORE_UNUSABLE and the errors of `checkStore`.
 */
export async function createRunFolder(plan: Plan, place: NewRunFolder): Promise<string> {
  const { runs, id, server, telemetry = false, store, encryption, pool, priority } = place;
  const { workers = server === undefined ? "shared" : "separate" } = place;
  if (store !== undefined) await checkStore(store);
  await makeRuns(runs);
  const run = id ?? (await newRun(plan.name, runs));
  if (id !== undefined) await patiently(() => makeRoot(runs, id), littlePatience); // or it exists already
  // A worker serves only its own run, whichever server it connects to.
  const own = prefixed(`${run}/`, queuesOf[workers]);
  const file: RunFile = defined({
    run,
    createdAt: new Date().toISOString(),
    namespace: server?.namespace ?? "default",
    queues: pool === undefined ? own : pooled(own, pool),
    telemetry,
    address: server?.address,
    store,
    workers: workers === "elsewhere" ? workers : undefined,
    encryption,
    pool,
    priority,
  });
  const { root } = runFolder(runs, run);
  const undo = writeAs(root);
  try {
    await patiently(async () => markFolder(root), littlePatience);
    const records = openStoreOf(root, file);
    const isOwn = (await records.record(planRow(1), plan, { waits: false })) === plan;
    const standing = store === undefined ? file : await records.record(runFileKey, file, { waits: false });
    // Another machine may have taken the id in the same second. The next free one is another here.
    if (id === undefined && !(isOwn && standing === file)) return createRunFolder(plan, place);
    await openFolderStore(root).record(runFileKey, standing, { waits: false }); // last, because it makes the folder a run
    return run;
  } finally {
    undo();
  }
}

const queuesOf = { shared: sharedQueues, separate: separateQueues, elsewhere: separateQueues };

/** Creates the folder itself, so that two runs that begin in the same second get different ones. */
async function newRun(name: string, runs: string): Promise<string> {
  const time = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  const base = `${name}-${time}`;
  for (let next = 1; ; next++) {
    const run = next === 1 ? base : `${base}-${next}`;
    if (await patiently(() => makeRoot(runs, run), littlePatience)) return run;
  }
}

/** Creates a run's folder, which only the user can access. Returns false if it exists. */
async function makeRoot(runs: string, run: string): Promise<boolean> {
  const { root } = runFolder(runs, run);
  try {
    await mkdir(root, { mode: 0o700 });
    return true;
  } catch (error) {
    if (isSystemError(error, "EEXIST")) return false;
    throw storageError(error, root);
  }
}

/**
 * Creates the folder of runs. Throws DISK_FULL, STORE_NOT_WRITABLE, and PATH_UNUSABLE if that is impossible, for
 * example at a broken link.
 */
async function makeRuns(runs: string): Promise<void> {
  try {
    await persistently(() => makeFolder(runs));
  } catch (error) {
    const told = storageError(error, runs);
    throw pathError(told) ?? told;
  }
  await persistently(() => checkFolder(runs));
}
