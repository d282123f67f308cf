import { hash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ahead } from "../../base/async/ahead.ts";
import { markFolder } from "../../base/files/marked-folder.ts";
import { patiently } from "../../base/files/patiently.ts";
import { storageError } from "../../base/files/storage-errors.ts";
import { stateFolder } from "../../base/processes/machine-folder.ts";
import type { RunFile } from "../../contracts/run.ts";
import { objectsAtOnce } from "../store/at-once.ts";
import { runFileKey } from "../store/keys.ts";
import { runNames } from "../store/named-backend.ts";
import { openFolderStore, openStoreOf } from "../store/open-run-store.ts";
import { otherServer, s3Address, s3Place } from "../store/s3/place.ts";
import { isRun } from "./run-file.ts";
import { runFolder } from "./run-folder.ts";
import { keepStore, storeOf } from "./store-of.ts";

/**
 * This machine's folder for the runs of the store at an address. It holds what belongs to the machine: logs, a run's
 * Temporal database, views for people. The records of the runs are in the store. Throws STORE_ADDRESS_INVALID.
 */
export async function folderOfStore(address: string): Promise<string> {
  const runs = pathOfStore(address);
  makePrivate(runs);
  await keepStore(runs, s3Address(s3Place(address)));
  return runs;
}

/** The path of `folderOfStore`, which may not exist. Throws STORE_ADDRESS_INVALID. */
function pathOfStore(address: string): string {
  const place = s3Place(address);
  const name = hash("sha256", `${otherServer() ?? ""} ${s3Address(place)}`).slice(0, 12);
  return join(stateFolder(), "stores", `${place.bucket}-${name}`);
}

/**
 * Makes the runs of a folder's store known in it: those that other machines created get a folder with a copy of
 * `run.json`. Does nothing for a usual folder. With `only`, looks for a single run. Throws STORE_REFUSED and
 * STORE_NOT_READABLE.
 */
export async function joinRuns(runs: string, only?: string): Promise<void> {
  const store = await storeOf(runs);
  if (store === undefined) return;
  const names = only === undefined ? await patiently(() => runNames(store)) : [only];
  const unknown = names.filter((name) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(name) && !isRun(runs, name));
  for await (const _ of ahead(unknown, objectsAtOnce, (run) => joinRun(runs, store, run)));
}

/**
 * The run that an address names, `s3://bucket/prefix/RUN` with or without a stage and more after it, as its local
 * folder of runs and its name there. It does not ask the store about a run that this machine knows. Opening a run that
 * does not exist throws RUN_NOT_FOUND.
 */
export async function runAtAddress(address: string): Promise<{ runs: string; named: string }> {
  const { bucket, prefix } = s3Place(address);
  const names = prefix.split("/").slice(0, -1);
  const above = (count: number) => {
    const own = names.slice(0, count).map((name) => `${name}/`);
    return { bucket, prefix: own.join("") };
  };
  const places = names.map((run, at) => ({ run, at, store: s3Address(above(at)) })).reverse();
  for (const { run, at, store } of places) {
    const runs = pathOfStore(store);
    if (isRun(runs, run)) return { runs, named: names.slice(at).join("/") };
  }
  for (const { run, at, store } of places) {
    const file = await recordedFile(store, run);
    if (file === undefined) continue;
    const runs = await folderOfStore(store);
    await joinRuns(runs, run);
    return { runs, named: names.slice(at).join("/") };
  }
  return { runs: await folderOfStore(s3Address(above(names.length - 1))), named: names.at(-1) ?? "" };
}

async function joinRun(runs: string, store: string, run: string): Promise<void> {
  const file = await recordedFile(store, run);
  if (file === undefined) return;
  const { root } = runFolder(runs, run);
  makePrivate(root);
  await patiently(async () => markFolder(root));
  await openFolderStore(root).record(runFileKey, { ...file, store });
}

/** The `run.json` of a run in a store; undefined if the store has no such run. */
function recordedFile(store: string, run: string): Promise<RunFile | undefined> {
  return openStoreOf(`${store}/${run}`, { run, store }).read(runFileKey);
}

function makePrivate(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storageError(error, folder);
  }
}
