import { ahead } from "../../base/async/ahead.ts";
import { collected } from "../../base/async/collected.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { objectsAtOnce } from "../../run/store/at-once.ts";
import { partOf } from "../../run/store/tree.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { isKept } from "../../run/versions/kept-versions.ts";
import { policyPart, trainerPart } from "../../run/versions/version-parts.ts";

/** A version whose files were freed, and their size in bytes. */
export interface FreedVersion {
  version: number;
  bytes: number;
}

/**
 * Frees the versions from `from` on that are neither checkpoints nor among the newest once step `last` is recorded.
 * With `isDry` it only returns them.
 */
export async function freeVersions(
  { plan, store }: Pick<OpenRun, "plan" | "store">,
  { last, from = 0, isDry = false }: { last: number; from?: number; isDry?: boolean },
): Promise<FreedVersion[]> {
  const current = firstVersion(plan) + last;
  const versions: number[] = [];
  for (let version = Math.max(0, from); version < current; version++) {
    if (!isKept(plan, version, current)) versions.push(version);
  }

  async function free(version: number): Promise<FreedVersion> {
    let bytes = 0;
    for (const { key, part } of [policyPart(plan, version), trainerPart(plan, version)]) {
      const tree = await store.treeRecord(key);
      if (tree === undefined) continue;
      const files = Object.entries(tree.files).filter(([name]) => partOf(name) === part);
      if (!(await store.isFreed(key, part))) bytes += files.reduce((total, [, { size }]) => total + size, 0);
      if (!isDry) await store.free(key, part); // repeats it in case it was killed before all files were gone
    }
    return { version, bytes };
  }

  return (await collected(ahead(versions, objectsAtOnce, free))).filter(({ bytes }) => bytes > 0);
}
