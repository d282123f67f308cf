import { EverturnError } from "../../base/errors/everturn-error.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import { inPart } from "../../run/store/tree-part.ts";
import { type ListedVersion, listVersions } from "../../run/versions/list-versions.ts";
import { policyPart } from "../../run/versions/version-parts.ts";

/** The folder of the policy of a version, given as `newest` or a number. Throws POLICY_NOT_FOUND and FILES_GONE. */
export async function versionFolder(run: OpenRun, asked: number | string): Promise<string> {
  return (await findVersion(run, await listVersions(run), asked)).folder;
}

/**
 * An existing version of a run, after its files were read and found to match the commit. Throws POLICY_NOT_FOUND and
 * FILES_GONE.
 */
export async function findVersion(
  { id: run, plan, store }: OpenRun,
  all: readonly ListedVersion[],
  asked: number | string,
): Promise<ListedVersion & { folder: string }> {
  const found =
    asked === "newest" ? all.at(-1) : all.find(({ version }) => String(version) === String(asked));
  if (found === undefined || found.state === "removed")
    throw new EverturnError("POLICY_NOT_FOUND", { run, version: asked });
  const folder = await inPart(store, policyPart(plan, found.version), async (local) => local);
  return { ...found, folder };
}
