import { rmSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { isThere } from "../../base/files/is-there.ts";
import { littlePatience, patiently } from "../../base/files/patiently.ts";
import { isStorageError } from "../../base/files/storage-errors.ts";
import { ownIdentity } from "../../base/processes/process-identity.ts";
import type { StoreSession } from "../../contracts/run.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";
import { sessionEndKey, sessionRow, sessionSignKey } from "../../run/store/keys.ts";
import { lengthOfRow } from "../../run/store/row.ts";
import type { Store } from "../../run/store/store.ts";

/** A run that this process holds among all machines that reach its store. */
export interface StoreClaim {
  /** Rejects with RUN_TAKEN_OVER when another machine holds the run; never resolves. */
  taken: Promise<never>;
  release(): Promise<void>;
}

/** A holder without a sign of life for this many ms counts as dead. It gives four in that time. */
const usualSilence = 40_000;
/** How often a process looks for a sign of life in that time. */
const looks = 20;

/**
 * Makes this machine the one that works on a run in a store. `identity` is that of its folder of the run: among the
 * processes of one folder, `session.json` decides. A holder gives signs of life by putting a record back that whoever
 * waits for one removes, so no clock and no time of an object counts (decision 0124). Throws RUN_HELD_ELSEWHERE.
 */
export async function claimInStore(
  run: string,
  store: Store,
  { folder, identity }: { folder: RunFolder; identity: string },
  options: { note?: (text: string) => void; silence?: number; stopping?: AbortSignal },
): Promise<StoreClaim> {
  const { silence = usualSilence } = options;
  const own: StoreSession = { process: ownIdentity(), host: hostname(), identity };
  let number = 0;
  for (;;) {
    const last = await lengthOfRow(store, sessionRow, number);
    const holder = last === 0 ? undefined : await store.read(sessionRow(last));
    if (holder !== undefined && holder.identity !== identity) {
      if (!(await store.has(sessionEndKey(last)))) await requireSilence(run, store, last, holder, options);
      await removeDatabase(folder, options.note);
    }
    number = last + 1;
    if ((await store.record(sessionRow(number), own)) === own) break;
  }
  return hold(run, store, number, silence / 4);
}

/** Throws RUN_HELD_ELSEWHERE if the holder gives a sign of life. */
async function requireSilence(
  run: string,
  store: Store,
  number: number,
  { process, host }: StoreSession,
  { note = () => {}, silence = usualSilence, stopping }: Parameters<typeof claimInStore>[3],
): Promise<void> {
  note(`${host} was working on ${run}: checking for ${Math.ceil(silence / 1000)} s whether it still is`);
  const sign = sessionSignKey(number);
  await store.remove(sign);
  // Counts looks, not time: if this process was suspended meanwhile, the holder may have been too.
  for (let look = 0; look < looks; look++) {
    await sleep(silence / looks, undefined, stopping === undefined ? {} : { signal: stopping });
    if (await store.has(sessionEndKey(number))) return;
    if (await store.has(sign))
      throw new EverturnError("RUN_HELD_ELSEWHERE", { run, pid: process.pid, host, file: sign.path });
  }
}

/**
 * Removes the database of the run's own server in this folder, because another machine has continued the run since.
 * Its histories are out of date. A new server begins from the store's records.
 */
async function removeDatabase(
  { database }: RunFolder,
  note: (text: string) => void = () => {},
): Promise<void> {
  if (!(await patiently(async () => isThere(database)))) return;
  note("another machine has continued this run: Temporal starts with an empty database here");
  for (const file of ["", "-wal", "-shm", "-journal"]) rmSync(`${database}${file}`, { force: true });
}

function hold(run: string, store: Store, number: number, interval: number): StoreClaim {
  const { promise: taken, reject: lose } = Promise.withResolvers<never>();
  taken.catch(() => {}); // those who wait for it see it
  let isBeating = false;
  const beat = async () => {
    const next = await store.read(sessionRow(number + 1));
    if (next !== undefined)
      throw new EverturnError("RUN_TAKEN_OVER", { run, pid: next.process.pid, host: next.host });
    await store.record(sessionSignKey(number), true, { waits: false });
  };
  const beating = setInterval(() => {
    if (isBeating) return; // the store does not answer
    isBeating = true;
    beat()
      .catch((error) => {
        if (!isStorageError(error)) lose(error); // otherwise the next one tries again
      })
      .finally(() => {
        isBeating = false;
      });
  }, interval);
  beating.unref();
  return {
    taken,
    release: async () => {
      clearInterval(beating);
      try {
        await patiently(() => store.record(sessionEndKey(number), true, { waits: false }), littlePatience);
      } catch (error) {
        if (!isStorageError(error)) throw error; // another machine then waits for signs of life
      }
    },
  };
}
