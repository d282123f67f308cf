import type { Finding } from "../../contracts/ledger.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { firstVersion } from "../../run/versions/first-version.ts";
import { isKept } from "../../run/versions/kept-versions.ts";
import { policyPart, trainerPart } from "../../run/versions/version-parts.ts";

/**
 * Whether the versions that a run keeps (checkpoints and the newest ones) are there, policy and trainer state.
 * `current`: the newest recorded version before the look and after it, since versions are freed while a run goes on.
 */
export async function checkVersions(
  { store, plan }: Pick<OpenRun, "store" | "plan">,
  current: () => Promise<number | undefined>,
): Promise<Finding[]> {
  const before = await current();
  if (before === undefined) return [];
  const looked: { version: number; finding: Finding }[] = [];
  for (let version = 0; version <= before; version++) {
    if (!isKept(plan, version, before)) continue;
    const parts = [policyPart, ...(version > firstVersion(plan) ? [trainerPart] : [])];
    for (const { key, part } of parts.map((partOf) => partOf(plan, version))) {
      const isThere = (await store.treeRecord(key)) !== undefined;
      if (isThere && !(await store.isFreed(key, part))) continue;
      const problem = isThere ? "it was removed" : "it is missing";
      looked.push({ version, finding: { check: "version", subject: `${key.tree}, ${part}`, problem } });
    }
  }
  const after = (await current()) ?? before;
  return looked.filter(({ version }) => isKept(plan, version, after)).map(({ finding }) => finding);
}
