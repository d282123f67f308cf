import { isEverturnError } from "../../base/errors/everturn-error.ts";
import { defined } from "../../base/records/defined.ts";
import type { Plan } from "../../contracts/plan.ts";
import type { Store } from "../store/store.ts";
import { inPart } from "../store/tree-part.ts";
import { firstVersion } from "./first-version.ts";
import { newestVersion } from "./newest-version.ts";
import { policyPart } from "./version-parts.ts";

/** A version of a run's policy, for display. */
export interface ListedVersion {
  version: number;
  /** The step that made it; absent before the first one. */
  step?: number;
  /** `removed`: it is neither a checkpoint nor recent. `broken`: its files differ from the commit. */
  state: "there" | "removed" | "broken";
  /** The folder of its policy, in Hugging Face's formats; its address if it is in a bucket. */
  folder?: string;
}

/** The parts of a run that determine its versions. */
interface VersionedRun {
  plan: Pick<Plan, "warmStart">;
  store: Pick<Store, "has" | "readTree" | "inFolder" | "problemOf" | "isFreed">;
}

/**
 * The versions that a run has made, in order. Their files are not read, so only a changed size marks one as broken.
 */
export async function listVersions(run: VersionedRun): Promise<ListedVersion[]> {
  const newest = (await newestVersion(run)) ?? -1;
  return Promise.all(Array.from({ length: newest + 1 }, (_, version) => listedVersion(run, version)));
}

async function listedVersion({ plan, store }: VersionedRun, version: number): Promise<ListedVersion> {
  const step = version - firstVersion(plan);
  const listed = defined<Pick<ListedVersion, "version" | "step">>({
    version,
    step: step > 0 ? step : undefined,
  });
  const part = policyPart(plan, version);
  if (await store.isFreed(part.key, part.part)) return { ...listed, state: "removed" };
  try {
    const folder = await inPart(store, part, async (found) => found, { isUnread: true });
    return { ...listed, state: "there", folder };
  } catch (error) {
    if (!isEverturnError(error) || error.code !== "FILES_GONE") throw error;
    return { ...listed, state: "broken" };
  }
}
