import { createHash } from "node:crypto";
import { join } from "node:path";
import { littlePatience, patiently } from "../../base/files/patiently.ts";
import { readRecord, writeWhole } from "../../base/files/whole-files.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";
import type { BundledLoop } from "./bundle-workflows.ts";
import { workflowBundle } from "./workflow-bundle.ts";

/** The workflow code of a run: its builds (16 digits of the SHA-256 of each bundle), the current one last. */
interface Builds {
  builds: string[];
}

/** The builds of a run, the current one last. Empty before a command first works on the run. */
export async function readBuilds(folder: RunFolder): Promise<string[]> {
  return (await patiently(() => readRecord<Builds>(listOf(folder))))?.builds ?? [];
}

/** The path of a build's bundle. */
export function bundleOf(folder: RunFolder, build: string): string {
  return join(folder.builds, `${build}.js`);
}

/**
 * Makes sure that the run has workflow code: its existing code, or the current code if it has none or `upgrade` is
 * set. Returns the builds, the current one last. Throws WORKFLOWS_NOT_BUNDLED.
 */
export async function prepareBuilds(
  folder: RunFolder,
  loops: readonly BundledLoop[],
  { telemetry, encrypts, upgrade }: { telemetry: boolean; encrypts: boolean; upgrade: boolean },
): Promise<string[]> {
  const builds = await readBuilds(folder);
  if (builds.length > 0 && !upgrade) return builds;
  const build = await keepBundle(folder, await workflowBundle(loops, telemetry, encrypts));
  const known: Builds = { builds: [...builds.filter((one) => one !== build), build] };
  await patiently(() => writeWhole(listOf(folder), `${JSON.stringify(known)}\n`), littlePatience);
  return known.builds;
}

function listOf(folder: RunFolder): string {
  return join(folder.builds, "builds.json");
}

async function keepBundle(folder: RunFolder, code: string): Promise<string> {
  const build = createHash("sha256").update(code).digest("hex").slice(0, 16);
  await patiently(() => writeWhole(bundleOf(folder, build), code), littlePatience);
  return build;
}
