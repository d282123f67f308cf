import { utimesSync } from "node:fs";
import { open } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { isAbsence } from "../../base/errors/system-error.ts";
import { heedMark, markFolder, readMark } from "../../base/files/marked-folder.ts";
import { littlePatience, patiently } from "../../base/files/patiently.ts";
import { removeFile } from "../../base/files/remove-file.ts";
import { isStorageError, readingError } from "../../base/files/storage-errors.ts";
import { readRecord, writeOnce, writeWhole } from "../../base/files/whole-files.ts";
import { isRunning, ownIdentity, type ProcessIdentity } from "../../base/processes/process-identity.ts";
import { sendSignal } from "../../base/processes/send-signal.ts";
import { defined } from "../../base/records/defined.ts";
import { holderClaim } from "../../run/folder/holder-claim.ts";
import { checkHome, settleHome } from "../../run/folder/home.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";
import { runFileKey } from "../../run/store/keys.ts";
import { openFolderStore, openStoreOf } from "../../run/store/open-run-store.ts";
import { heldElsewhere, type RunHolder, readRunHolder } from "./run-holder.ts";
import { claimInStore } from "./store-claim.ts";

/** A run that this process works on. */
export interface HeldRun {
  /** Records where the run's server is, for other commands. Throws RUN_TAKEN_OVER. */
  tell(about: Pick<RunHolder, "address" | "ui" | "cluster" | "server">): Promise<void>;
  /** Rejects with RUN_TAKEN_OVER when another process works on the run; never resolves. */
  taken: Promise<never>;
  /** Releases the run. */
  release(): Promise<void>;
  /** The last sign of life of the dead process that this one took over from, in ms since 1970. */
  diedAt?: number;
}

/** Ms between two signs of life. A holder of another machine without one for `silence` ms counts as dead. */
const beatInterval = 2000;
const usualSilence = 20_000;
/** Ms in which a process that has a claim replaces a dead holder's file. */
const claimTime = 5000;

/**
 * Makes this process the one that works on the run: in its folder, and if the run has a store of its own, among all
 * machines that reach the store. Throws RUN_ALREADY_ACTIVE, RUN_HELD_ELSEWHERE and RUN_COPIED.
 */
export async function claimRun(
  run: string,
  folder: RunFolder,
  options: { note?: (text: string) => void; silence?: number; stopping?: AbortSignal } = {},
): Promise<HeldRun> {
  const held = await claimFolder(run, folder, options);
  try {
    const file = await openFolderStore(folder.root).read(runFileKey);
    if (file?.store === undefined) return held;
    const store = openStoreOf(folder.root, file);
    const own = { folder, identity: readMark(folder.root) ?? "" };
    const claim = await claimInStore(run, store, own, options);
    const release = async () => {
      await claim.release();
      await held.release();
    };
    const taken = Promise.race([held.taken, claim.taken]);
    taken.catch(() => {}); // those who wait for it see it
    return { ...held, release, taken };
  } catch (error) {
    await held.release();
    throw error;
  }
}

/**
 * Makes this process the one that works in the run's folder. It takes over from a holder whose process has ended, and
 * ends the dev server that it left, because two servers would corrupt the database. It can't see whether a process on another
 * machine or in another container lives. It therefore watches the holder's file for `silence` ms, and takes over
 * only if the file does not change in all that time. This way it compares no clocks of different machines. Throws
 * RUN_ALREADY_ACTIVE, RUN_HELD_ELSEWHERE and RUN_COPIED.
 */
async function claimFolder(
  run: string,
  folder: RunFolder,
  options: { note?: (text: string) => void; silence?: number; stopping?: AbortSignal } = {},
): Promise<HeldRun> {
  const own: RunHolder = { process: ownIdentity(), host: hostname() };
  await patiently(async () => checkHome(folder.root, run), littlePatience);
  let diedAt: number | undefined;
  for (;;) {
    const holder = await readRunHolder(folder);
    if (holder !== undefined) diedAt = await beatOf(folder.holder);
    if (holder !== undefined && !isOf(holder, own)) await takeFromDead(run, folder, holder, options);
    const isHeld =
      holder === undefined
        ? await isFirst(folder.holder, own)
        : await replaceDead(run, folder, holder, own, options);
    if (isHeld) return defined({ ...hold(run, folder, own, await heeded(run, folder)), diedAt });
  }
}

function isFirst(path: string, own: RunHolder): Promise<boolean> {
  return patiently(() => writeOnce(path, JSON.stringify(own)), littlePatience);
}

/** From now on a folder without its mark is not the run's. A run of an earlier release gets a mark. */
function heeded(run: string, { root }: RunFolder): Promise<() => void> {
  return patiently(async () => {
    markFolder(root);
    await settleHome(root, run);
    return heedMark(root);
  }, littlePatience);
}

/** Makes sure that the process in `holder` no longer works on the run. */
async function takeFromDead(
  run: string,
  folder: RunFolder,
  holder: RunHolder,
  options: Parameters<typeof claimRun>[2] = {},
): Promise<void> {
  const { note = () => {}, silence = usualSilence, stopping } = options;
  const { process: owner, host, server } = holder;
  const isAlive = isRunning(owner);
  if (isAlive === true) throw new EverturnError("RUN_ALREADY_ACTIVE", { run, pid: owner.pid });
  if (isAlive === undefined) {
    const seconds = Math.ceil(silence / 1000);
    note(`${host} was working on ${run}: checking for ${seconds} s whether it still is`);
    if (await changes(folder.holder, silence, stopping)) throw heldElsewhere(run, folder, holder);
  }
  if (server !== undefined) await end(server);
}

/** Whether a file changes within this number of milliseconds. Its removal is a change too. */
async function changes(path: string, silence: number, signal: AbortSignal | undefined): Promise<boolean> {
  const before = await patiently(() => stateOf(path));
  const interval = Math.min(500, silence / 4);
  // Counts looks, not time: if this process was suspended meanwhile, the holder may have been too.
  for (let looks = 0; looks * interval < silence; looks++) {
    await sleep(interval, undefined, signal === undefined ? {} : { signal });
    if ((await patiently(() => stateOf(path))) !== before) return true;
  }
  return false;
}

/** When a holder's file was last touched, in ms since 1970; undefined if it is gone. */
async function beatOf(path: string): Promise<number | undefined> {
  const [, nanoseconds] = (await patiently(() => stateOf(path))).split(" ");
  return nanoseconds === undefined ? undefined : Number(BigInt(nanoseconds) / 1_000_000n);
}

/** Opens the file, because a network file system answers a mere query from its cache for a while. */
async function stateOf(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { ino, mtimeNs } = await file.stat({ bigint: true });
      return `${ino} ${mtimeNs}`;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isAbsence(error)) return "gone";
    throw readingError(error, path);
  }
}

/**
 * Replaces a dead holder's file with this process's. Returns false if another process has replaced it. Several
 * processes may have found the holder dead, some of them long ago. The one that writes the first claim may replace the
 * file, if it still is the dead holder's. If that process has died too, the next claim decides. Throws
 * RUN_ALREADY_ACTIVE.
 */
async function replaceDead(
  run: string,
  folder: RunFolder,
  dead: RunHolder,
  own: RunHolder,
  { silence = usualSilence, stopping }: Parameters<typeof claimRun>[2] = {},
): Promise<boolean> {
  const claimOf = (at: number) => holderClaim(folder, dead, at);
  let number = 1;
  while (!(await isFirst(claimOf(number), own))) {
    const other = await patiently(() => readRecord<RunHolder>(claimOf(number)));
    if (other === undefined) return false;
    if (isOf(other, own)) break;
    const isAlive = isRunning(other.process);
    const wait = isAlive === true ? claimTime : silence;
    if (isAlive !== false && (await changes(claimOf(number), wait, stopping))) return false;
    if (isAlive === true) throw new EverturnError("RUN_ALREADY_ACTIVE", { run, pid: other.process.pid });
    number += 1;
  }
  let isReplaced = false;
  try {
    if (isDeepStrictEqual(await readRunHolder(folder), dead)) {
      await patiently(() => writeWhole(folder.holder, JSON.stringify(own)), littlePatience);
      isReplaced = true;
    }
    return isReplaced;
  } finally {
    // Those of dead processes still count while the dead holder's file is there.
    for (let one = isReplaced ? 1 : number; one <= number; one++) await removeClaim(claimOf(one));
  }
}

/** Removes a claim if the disk allows it. If not, a later sweep removes it, and others wait for it only briefly. */
async function removeClaim(claim: string): Promise<void> {
  try {
    await patiently(async () => removeFile(claim), littlePatience);
  } catch (error) {
    if (!isStorageError(error)) throw error;
  }
}

function hold(run: string, folder: RunFolder, own: RunHolder, forget: () => void): HeldRun {
  let holder = own;
  let lose = (_: unknown) => {};
  const taken = new Promise<never>((_, reject) => {
    lose = reject;
  });
  taken.catch(() => {}); // those who wait for it see it
  let isBeating = false;
  const beating = setInterval(() => {
    if (isBeating) return; // the disk does not answer
    isBeating = true;
    beat()
      .catch(lose)
      .finally(() => {
        isBeating = false;
      });
  }, beatInterval);
  beating.unref();

  /** Writes a sign of life. Throws RUN_TAKEN_OVER. If the disk fails, the next beat tries again. */
  async function beat(): Promise<void> {
    const now = new Date();
    try {
      if (await isMine()) utimesSync(folder.holder, now, now);
      else await writeOnce(folder.holder, JSON.stringify(holder)); // somebody deleted it
    } catch (error) {
      if (error instanceof EverturnError && error.code === "RUN_TAKEN_OVER") throw error;
    }
  }

  /**
   * Whether the file names this process as the one that works on the run; false if it does not exist. Throws
   * RUN_TAKEN_OVER.
   */
  async function isMine(): Promise<boolean> {
    const standing = await readRunHolder(folder);
    if (standing === undefined || isOf(standing, own)) return standing !== undefined;
    const { process, host } = standing;
    throw new EverturnError("RUN_TAKEN_OVER", { run, pid: process.pid, host });
  }

  return {
    taken,
    tell: async (about) => {
      holder = { ...holder, ...about };
      await isMine();
      await patiently(() => writeWhole(folder.holder, JSON.stringify(holder)));
    },
    release: async () => {
      clearInterval(beating);
      const standing = await readRunHolder(folder);
      const isOwn = standing !== undefined && isOf(standing, own);
      if (isOwn) await patiently(async () => removeFile(folder.holder), littlePatience);
      forget();
    },
  };
}

function isOf(holder: RunHolder, own: RunHolder): boolean {
  return isDeepStrictEqual(holder.process, own.process);
}

async function end(server: ProcessIdentity): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (isRunning(server) !== true) return;
    sendSignal(server.pid, signal);
    for (let waited = 0; waited < 50 && isRunning(server) === true; waited++) await sleep(100);
  }
}
