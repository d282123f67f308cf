import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EverturnError } from "../../base/errors/everturn-error.ts";
import { isThere } from "../../base/files/is-there.ts";
import { littlePatience, patiently } from "../../base/files/patiently.ts";
import { readRecord, writeWhole } from "../../base/files/whole-files.ts";
import type { OpenRun } from "../../run/folder/open-runs.ts";
import type { RunFolder } from "../../run/folder/run-folder.ts";
import { buildRow } from "../../run/store/keys.ts";
import { addToRow, readRow } from "../../run/store/row.ts";
import type { BundledLoop } from "./bundle-workflows.ts";
import { workflowBundle } from "./workflow-bundle.ts";

/** The workflow code of a run: its builds (16 digits of the SHA-256 of each bundle), the current one last. */
interface Builds {
  builds: string[];
}

/** The parts of a run that hold its builds. */
type BuiltRun = Pick<OpenRun, "folder" | "store">;

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
 * set. Returns the builds, the current one last. With `isShared` other machines get the builds through the store.
 * Throws WORKFLOWS_NOT_BUNDLED and FILES_GONE.
 */
export async function prepareBuilds(
  run: BuiltRun,
  loops: readonly BundledLoop[],
  options: { telemetry: boolean; encrypts: boolean; upgrade: boolean; isShared: boolean },
): Promise<string[]> {
  if (options.isShared) await fetchBuilds(run);
  const builds = await buildsToday(run.folder, loops, options);
  if (options.isShared) await shareBuild(run, builds);
  return builds;
}

/**
 * Copies the builds in a run's store into its folder. A store that is the folder itself has none. Throws FILES_GONE.
 */
async function fetchBuilds({ folder, store }: BuiltRun): Promise<void> {
  const shared = await readRow(store, buildRow);
  if (shared.length === 0) return;
  for (const { build, sha256 } of shared) {
    const path = bundleOf(folder, build);
    if (await patiently(async () => isThere(path))) continue;
    const code = await store.readBytes(sha256);
    if (code === undefined)
      throw new EverturnError("FILES_GONE", { tree: "builds", part: build, reason: "its bytes are gone" });
    await patiently(() => writeWhole(path, Buffer.from(code).toString()));
  }
  const names = shared.map(({ build }) => build);
  await writeList(
    folder,
    names.filter((name, at) => names.lastIndexOf(name) === at),
  );
}

/** How often a worker looks for the builds of a run that has none yet, in ms. */
const interval = 500;

/**
 * Waits until the run's folder has its builds, which the command that works on the run makes. Throws FILES_GONE and
 * the reason of `signal`.
 */
export async function untilBuilt(run: BuiltRun, signal: AbortSignal): Promise<void> {
  for (;;) {
    await fetchBuilds(run);
    if ((await readBuilds(run.folder)).length > 0) return;
    await sleep(interval);
    signal.throwIfAborted();
  }
}

/** Puts the current build into the store, unless it is the store's current one. */
async function shareBuild({ folder, store }: BuiltRun, builds: readonly string[]): Promise<void> {
  const build = builds.at(-1) ?? "";
  const code = await patiently(() => readFile(bundleOf(folder, build)));
  const sha256 = await store.bytes(code);
  await addToRow(store, buildRow, (shared) =>
    shared.at(-1)?.build === build ? undefined : { build, sha256 },
  );
}

/** The builds in the run's folder, after adding today's code if it has none or `upgrade` is set. */
async function buildsToday(
  folder: RunFolder,
  loops: readonly BundledLoop[],
  { telemetry, encrypts, upgrade }: { telemetry: boolean; encrypts: boolean; upgrade: boolean },
): Promise<string[]> {
  const builds = await readBuilds(folder);
  if (builds.length > 0 && !upgrade) return builds;
  const build = await keepBundle(folder, await workflowBundle(loops, telemetry, encrypts));
  const known = [...builds.filter((one) => one !== build), build];
  await writeList(folder, known);
  return known;
}

async function writeList(folder: RunFolder, builds: string[]): Promise<void> {
  const known: Builds = { builds };
  await patiently(() => writeWhole(listOf(folder), `${JSON.stringify(known)}\n`), littlePatience);
}

function listOf(folder: RunFolder): string {
  return join(folder.builds, "builds.json");
}

async function keepBundle(folder: RunFolder, code: string): Promise<string> {
  const build = createHash("sha256").update(code).digest("hex").slice(0, 16);
  await patiently(() => writeWhole(bundleOf(folder, build), code), littlePatience);
  return build;
}
