import { EverturnError } from "../../base/errors/everturn-error.ts";
import { messageOf } from "../../base/errors/message-of.ts";
import type { ServerStep } from "../../contracts/trainer.ts";
import { warmStartSlice } from "../../contracts/warm-start-slice.ts";
import { loadTrainer } from "../../plugin/registry/registry.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { TreeKey } from "../../run/store/key.ts";
import { deletedCheckpointKey, warmStartKey } from "../../run/store/keys.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { isKept } from "../../run/versions/kept-versions.ts";
import { versionKey } from "../../run/versions/version-parts.ts";

type Run = Pick<OpenRun, "plan" | "store">;

/** The tree of a version or of a slice of the warm start. */
type VersionKey = TreeKey<{ server?: ServerStep }>;

/**
 * Deletes from the training server the checkpoints of versions whose files were freed, from version `from` on, and those
 * of the warm start's slices. Once step `last` is recorded, nothing reads them: an attempt starts from a version's
 * files, which name its checkpoint. A record marks each as deleted. Returns their names. With `isDry` it only returns
 * those that it would delete once the files are freed.
 *
 * Throws CHECKPOINTS_NOT_DELETED, after which it can be repeated.
 */
export async function deleteCheckpoints(
  run: Run,
  { last, from = 0, isDry = false }: { last: number; from?: number; isDry?: boolean },
): Promise<string[]> {
  const { plan, store } = run;
  const current = firstVersion(plan) + last;
  if ((await serverOf(run, keyOfVersion(plan, current))) === undefined) return [];
  const { checkpointDeleter } = await loadTrainer(plan.trainer);
  const remove = checkpointDeleter?.(structuredClone(plan.trainer.config));
  if (remove === undefined) return [];
  const trees: { key: VersionKey; checkpoint: string }[] = [];
  for (const key of unneeded(run, from, current)) {
    const server = await serverOf(run, key);
    if (server === undefined || (await store.has(deletedCheckpointKey(key)))) continue;
    if (isDry || (await isFreed(run, key))) trees.push({ key, checkpoint: server.checkpoint });
  }
  const checkpoints = trees.map(({ checkpoint }) => checkpoint);
  if (isDry || checkpoints.length === 0) return checkpoints;
  try {
    await remove(checkpoints);
  } catch (cause) {
    const reason = messageOf(cause).replace(/[.\s]+$/, "");
    throw new EverturnError("CHECKPOINTS_NOT_DELETED", { reason }, { cause });
  }
  for (const { key, checkpoint } of trees) await store.record(deletedCheckpointKey(key), { checkpoint });
  return checkpoints;
}

/** The trees of versions that are neither checkpoints nor among the newest, and of slices before the warm start's last. */
function unneeded({ plan }: Run, from: number, current: number): VersionKey[] {
  const first = firstVersion(plan);
  const keys: VersionKey[] = [];
  if (from <= first) {
    const { steps = 0 } = plan.warmStart ?? {};
    for (let to = warmStartSlice; to < steps; to += warmStartSlice) keys.push(warmStartKey(to));
  }
  for (let version = Math.max(first, from); version < current; version++)
    if (!isKept(plan, version, current)) keys.push(keyOfVersion(plan, version));
  return keys;
}

function keyOfVersion(plan: Run["plan"], version: number): VersionKey {
  const { tree } = versionKey(plan, version);
  return { tree };
}

async function isFreed({ store }: Run, key: VersionKey): Promise<boolean> {
  return (await store.isFreed(key, "policy")) && (await store.isFreed(key, "trainer"));
}

/** The server's requests that made a version. Undefined if it was made here. */
async function serverOf({ store }: Run, key: VersionKey): Promise<ServerStep | undefined> {
  return (await store.treeRecord(key))?.value.server;
}
