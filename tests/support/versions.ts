import { mkdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadPolicy } from "../../src/plugin/registry/registry.ts";
import type { OpenRun } from "../../src/run/folder/open-runs.ts";
import { inPart } from "../../src/run/store/tree-part.ts";
import { policyPart, trainerPart, versionKey } from "../../src/run/versions/version-parts.ts";

/** Where a version's policy lies, or the trainer's state that belongs to it. Throws FILES_GONE. */
export function folderOf(
  { plan, store }: Pick<OpenRun, "plan" | "store">,
  version: number,
  part: "policy" | "trainer" = "policy",
): Promise<string> {
  const place = (part === "policy" ? policyPart : trainerPart)(plan, version);
  return inPart(store, place, async (folder) => folder);
}

/** Writes a version as if it had been made: its policy as `fill` does, or one file, and a trainer's state. */
export async function writeVersion(
  { plan, store }: Pick<OpenRun, "plan" | "store">,
  version: number,
  fill = (folder: string) => writeFile(join(folder, "weights"), String(version)),
): Promise<void> {
  const write = async (folder: string) => {
    for (const part of ["policy", "trainer"]) mkdirSync(join(folder, part));
    await fill(join(folder, "policy"));
    await writeFile(join(folder, "trainer", "state"), String(version));
  };
  await store.tree(versionKey(plan, version), write, () => ({ policyVersion: version }));
}

/** Writes a version as its policy's plugin begins a run. */
export async function initializeVersion(run: Pick<OpenRun, "plan" | "store">, version: number) {
  const { policy, seed } = run.plan;
  const { initialize } = await loadPolicy(policy);
  await writeVersion(run, version, (folder) => initialize(folder, policy.config, seed));
}
