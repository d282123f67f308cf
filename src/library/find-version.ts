import { EverturnError } from "../errors/everturn-error.ts";
import type { OpenRun } from "../runs/open-runs.ts";
import { type ListedVersion, listVersions } from "../versions/list-versions.ts";
import { policyPart } from "../versions/version-parts.ts";

/** The folder of one version's policy, `newest` or by its number. Throws POLICY_NOT_FOUND, FILES_GONE. */
export async function versionFolder(run: OpenRun, asked: number | string): Promise<string> {
  return findVersion(run, await listVersions(run), asked).folder;
}

/** One of a run's versions that is there. Throws POLICY_NOT_FOUND, FILES_GONE. */
export function findVersion(
  { id: run, plan }: Pick<OpenRun, "id" | "plan">,
  all: readonly ListedVersion[],
  asked: number | string,
): ListedVersion & { folder: string } {
  const found =
    asked === "newest" ? all.at(-1) : all.find(({ version }) => String(version) === String(asked));
  if (found?.state === "broken") {
    const { key, part } = policyPart(plan, found.version);
    throw new EverturnError("FILES_GONE", { tree: key.tree, part });
  }
  if (found?.folder === undefined) throw new EverturnError("POLICY_NOT_FOUND", { run, version: asked });
  return { ...found, folder: found.folder };
}
